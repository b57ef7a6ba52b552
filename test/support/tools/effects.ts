/**
 * The end-to-end tools that must not be run blindly. Their key differs from attempt to attempt, so the provider forgives no
 * repeat: one effect in its ledger means that the tool acted once.
 */
import * as z from "zod";
import { type AnyTool, defineTool, type ToolContext } from "../../../shared/tool.ts";

const anything = z.record(z.string(), z.json());
const acted = z.strictObject({ ordinal: z.int() });
const ledgerSchema = z.object({
  effects: z.array(z.object({ operationId: z.string().optional(), answer: z.json() })),
});

const keyPrefix = (context: ToolContext): string => `${context.operationId}/`;

async function act(context: ToolContext, input: unknown): Promise<z.infer<typeof acted>> {
  const node = encodeURIComponent(context.nodeId);
  const response = await fetch(`${process.env.PROVIDER_URL}/ledger/${node}`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      "idempotency-key": `${keyPrefix(context)}${context.fencingToken}`,
      "fencing-token": String(context.fencingToken),
      "attempt-key": String(context.attempt),
      "node-id": node,
    },
    body: JSON.stringify({ run_id: context.runId, input }),
  });
  if (!response.ok) throw new Error(`the ledger answered ${response.status}`);
  return z.object({ ordinal: z.int() }).parse(await response.json());
}

const lookedUp = defineTool({
  name: "looked-up",
  input: anything,
  output: acted,
  effect: "reconcilable",
  execute: (input, context) => act(context, input),
  reconcile: async (_input, context) => {
    const response = await fetch(`${process.env.PROVIDER_URL}/`);
    if (!response.ok) return { is: "unknown" };
    const { effects } = ledgerSchema.parse(await response.json());
    const found = effects.find((effect) => effect.operationId?.startsWith(keyPrefix(context)));
    return found === undefined
      ? { is: "not_done" }
      : { is: "done", output: z.object({ ordinal: z.int() }).parse(found.answer) };
  },
});

const once = defineTool({
  name: "once",
  input: anything,
  output: acted,
  effect: "at_most_once",
  execute: (input, context) => act(context, input),
});

export const effectTools: readonly AnyTool[] = [lookedUp, once];
