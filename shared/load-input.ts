/** The input of a node with its references replaced, checked by its tool's schema. What fails here has had no effect. */
import { inputOf, type Outputs, outputTextOf } from "./beside.ts";
import { describeError, type ErrorRecord } from "./errors.ts";
import type { Json } from "./json.ts";
import { nodeKey } from "./keys.ts";
import { fixed } from "./limits.ts";
import { type NodeItem, nodeItemSchema, readItem } from "./model.ts";
import { referencesIn, resolveReferences } from "./references.ts";
import type { AnyTool } from "./tool.ts";

export type LoadedInput =
  | { readonly is: "input"; readonly input: unknown }
  /** It can never be had: the node fails. */
  | { readonly is: "bad"; readonly error: ErrorRecord };

/** @throws when a value cannot be read now. */
export async function loadInput(stored: Outputs, node: NodeItem, tool: AnyTool): Promise<LoadedInput> {
  const raw = await inputOf(stored.table, node);
  const outputs = new Map<string, Json>();
  let bytes = 0;
  for (const id of new Set(referencesIn(raw).references.map((reference) => reference.$output))) {
    const text = await outputOf(stored, node, id);
    bytes += Buffer.byteLength(text, "utf8");
    if (bytes > fixed.referredBytes) return tooMuch;
    outputs.set(id, JSON.parse(text) as Json);
  }
  try {
    const input = resolveReferences(raw, (id) => outputs.get(id) ?? null);
    const parsed = await tool.input.safeParseAsync(input);
    if (parsed.success) return { is: "input", input: parsed.data };
    const issue = parsed.error.issues[0];
    const field = ["input", ...(issue?.path ?? []).map(String)].join(".");
    return {
      is: "bad",
      error: {
        name: "BadInput",
        code: "bad_input",
        message: `${field}: ${issue?.message ?? "does not fit the tool's schema"}`,
      },
    };
  } catch (error) {
    return { is: "bad", error: { ...describeError(error), code: "bad_input" } };
  }
}

const tooMuch: LoadedInput = {
  is: "bad",
  error: {
    name: "BadInput",
    code: "bad_input",
    message: `input: the outputs that it refers to must be at most ${fixed.referredBytes} bytes of JSON together`,
  },
};

/** A node is READY only when all that it refers to has succeeded, so anything else here is a fault of the table. */
async function outputOf(stored: Outputs, node: NodeItem, id: string): Promise<string> {
  const item = await stored.table.get(nodeKey(node.run_id, id));
  if (item === undefined) throw new Error(`node ${JSON.stringify(id)}, whose output is needed, is missing`);
  const upstream = readItem(nodeItemSchema, item);
  const text = await outputTextOf(stored, upstream);
  if (upstream.status !== "SUCCEEDED" || upstream.generation !== node.generation || text === undefined) {
    throw new Error(
      `node ${JSON.stringify(id)}, whose output is needed, is ${upstream.status} in generation ${upstream.generation}`,
    );
  }
  return text;
}
