/** What a graph file must look like. What its ids and values may be is the client's and the deployment's to judge. */
import { readFile } from "node:fs/promises";
import type { NodeRequest } from "../client/index.ts";
import { shown, usageError } from "./usage.ts";

export type GraphFile = {
  readonly runId?: string;
  readonly commandId?: string;
  readonly deadlineMs?: number;
  readonly nodes: readonly NodeRequest[];
};

type Members = { readonly [name: string]: unknown };
type Fault = (field: string, rule: string, value: unknown) => Error;

/**
 * Reads a file, `-` for what is piped in. Other fields at the top, such as `source`, are for people and are ignored.
 * @throws UsageError that names the file, the node, the field, the rule and what came.
 */
export async function readGraphFile(
  path: string,
  defaultTool: string | undefined,
  readInput: () => Promise<string>,
): Promise<GraphFile> {
  const name = path === "-" ? "standard input" : path;
  const text = await (path === "-" ? readInput() : readFile(path, "utf8")).catch((cause: unknown) => {
    throw usageError(`${name}: must be a file that can be read, got ${reasonOf(cause)}`);
  });
  return graphOf(name, parse(name, text), defaultTool);
}

const reasons: ReadonlyMap<unknown, string> = new Map([
  ["ENOENT", "no such file"],
  ["EISDIR", "a directory"],
  ["EACCES", "permission denied"],
]);

function reasonOf(cause: unknown): string {
  const code: unknown = cause instanceof Error ? Reflect.get(cause, "code") : undefined;
  return reasons.get(code) ?? String(cause instanceof Error ? cause.message : cause);
}

function parse(name: string, text: string): unknown {
  try {
    // Editors on Windows put a byte order mark in front, which is no JSON.
    return JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw usageError(`${name}: must be JSON, got ${text.trim() === "" ? "an empty file" : why}`);
  }
}

function graphOf(name: string, content: unknown, defaultTool: string | undefined): GraphFile {
  const fault: Fault = (field, rule, value) => usageError(`${name}: ${field} must be ${rule}, got ${shown(value)}`);
  if (!isObject(content)) throw fault("the file", 'an object { "nodes": [...] }', content);
  const { type, run_id: runId, command_id: commandId, deadline_ms: deadlineMs, nodes } = content;
  if (type !== undefined && type !== "start_run") throw fault("type", '"start_run" where it is given', type);
  if (!isTextOrMissing(runId)) throw fault("run_id", "a string", runId);
  if (!isTextOrMissing(commandId)) throw fault("command_id", "a string", commandId);
  if (deadlineMs !== undefined && typeof deadlineMs !== "number") throw fault("deadline_ms", "a number", deadlineMs);
  if (!Array.isArray(nodes) || nodes.length === 0) throw fault("nodes", "a list of at least one node", nodes);
  return {
    ...(runId === undefined ? {} : { runId }),
    ...(commandId === undefined ? {} : { commandId }),
    ...(deadlineMs === undefined ? {} : { deadlineMs }),
    nodes: nodes.map((node: unknown, index) => nodeOf(node, `nodes[${index}]`, defaultTool, fault)),
  };
}

const nodeFields = ["node_id", "tool", "input", "depends_on"];

function nodeOf(node: unknown, place: string, defaultTool: string | undefined, fault: Fault): NodeRequest {
  if (!isObject(node)) throw fault(place, 'an object { "node_id", "tool", "input", "depends_on" }', node);
  const { node_id: nodeId, tool = defaultTool, input, depends_on: dependsOn = [] } = node;
  if (typeof nodeId !== "string") throw fault(`${place}.node_id`, "a string", nodeId);
  const here = `node ${JSON.stringify(nodeId)}:`;
  // A field at a node that nobody reads is most often a misspelt one that matters.
  const unknownField = Object.keys(node).find((field) => !nodeFields.includes(field));
  if (unknownField !== undefined) throw fault(`${here} each field`, `one of ${nodeFields.join(", ")}`, unknownField);
  if (tool === undefined) throw fault(`${here} tool`, "given, here or for all by --default-tool", tool);
  if (typeof tool !== "string") throw fault(`${here} tool`, "a string", tool);
  if (!isListOfTexts(dependsOn)) throw fault(`${here} depends_on`, "a list of node ids", dependsOn);
  return { nodeId, tool, dependsOn, ...(input === undefined ? {} : { input }) };
}

const isObject = (value: unknown): value is Members =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const isTextOrMissing = (value: unknown): value is string | undefined =>
  value === undefined || typeof value === "string";
const isListOfTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((each) => typeof each === "string");
