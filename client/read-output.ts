/** One node's output, wherever it stands. */
import { outputTextOf } from "../shared/beside.ts";
import type { Json } from "../shared/json.ts";
import { nodeKey } from "../shared/keys.ts";
import { idSchema, type NodeItem, nodeItemSchema, readItem } from "../shared/model.ts";
import type { Blobs } from "../shared/ports.ts";
import { clientError, noSuchRun } from "./errors.ts";
import { type ReadableTable, readRunItem } from "./read-run.ts";

export type OutputSource = { readonly table: ReadableTable; readonly blobs: Pick<Blobs, "get"> };

export async function readOutput(source: OutputSource, runId: string, nodeId: string, nowMs: number): Promise<Json> {
  const run = await readRunItem(source.table, runId, nowMs);
  if (run === undefined) throw noSuchRun(runId);
  const node = await nodeOf(source.table, runId, nodeId);
  if (node === undefined || node.generation !== run.generation) {
    throw clientError(
      "no_such_node",
      `node must be one of run ${JSON.stringify(runId)}, got ${JSON.stringify(nodeId)}`,
    );
  }
  const text = await outputTextOf(source, node);
  if (text === undefined) {
    const message = `node ${JSON.stringify(nodeId)} of run ${JSON.stringify(runId)} must have an output, got a node that is ${node.status} and has none`;
    throw Object.assign(clientError("no_output", message), { nodeStatus: node.status });
  }
  const output: Json = JSON.parse(text);
  return output;
}

async function nodeOf(table: ReadableTable, runId: string, nodeId: string): Promise<NodeItem | undefined> {
  // No node can have an id that no start may use, and DynamoDB would refuse some of them with an error of its own.
  if (!idSchema.safeParse(nodeId).success) return undefined;
  const found = await table.get(nodeKey(runId, nodeId));
  return found === undefined ? undefined : readItem(nodeItemSchema, found);
}
