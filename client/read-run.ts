import { besideItemSchema } from "../shared/beside.ts";
import { dependentsKey, errorKey, nodePrefix, outputKey, runKey, runPartition } from "../shared/keys.ts";
import { idSchema, type NodeItem, nodeItemSchema, type RunItem, readItem, runItemSchema } from "../shared/model.ts";
import type { Table } from "../shared/ports.ts";
import { type RunView, runView } from "./view.ts";

export type ReadableTable = Pick<Table, "get" | "query" | "dueRuns">;

/** Undefined where there is none, or where it has expired and only its removal is still to come. */
export async function readRunItem(table: ReadableTable, runId: string, nowMs: number): Promise<RunItem | undefined> {
  // No run can have an id that no start may use, and DynamoDB would refuse some of them with an error of its own.
  if (!idSchema.safeParse(runId).success) return undefined;
  const found = await table.get(runKey(runId));
  if (found === undefined) return undefined;
  const run = readItem(runItemSchema, found);
  // Without a time to live it waits for someone to resolve a doubt.
  return run.expires_at !== undefined && run.expires_at * 1_000 <= nowMs ? undefined : run;
}

/** The run is read before its nodes: where it says that it has ended, the nodes read after it have ended too (I15). */
export async function readRun(table: ReadableTable, runId: string, nowMs: number): Promise<RunView | undefined> {
  const run = await readRunItem(table, runId, nowMs);
  return run === undefined ? undefined : withNodes(table, run);
}

/** In the order given at the start. Items expire one by one over days, so what an old run of the same id has left is left out. */
export async function nodesOf(table: ReadableTable, run: RunItem): Promise<readonly NodeItem[]> {
  return (await table.query(runPartition(run.run_id), nodePrefix))
    .map((item) => readItem(nodeItemSchema, item))
    .filter((node) => node.generation === run.generation)
    .sort((left, right) => left.ordinal - right.ordinal);
}

export async function withNodes(table: ReadableTable, run: RunItem): Promise<RunView> {
  const nodes = await nodesOf(table, run);
  const dependentsBeside = new Map<string, Beside>();
  if (nodes.some((node) => node.dependents_beside === true)) {
    const prefix = dependentsKey(run.run_id, "").sk;
    for (const item of await table.query(runPartition(run.run_id), prefix)) {
      const beside = readBeside(item);
      dependentsBeside.set(beside.sk.slice(prefix.length), beside);
    }
  }
  return runView({ run, nodes, dependentsBeside, results: await readResults(table, nodes) });
}

/** Results that stand beside their node and come along in one view; the nodes of what is left out say that it is there. */
const MOST_RESULTS = 50;
const READS_AT_ONCE = 10;

/** Errors first: without them nobody sees why. One that has expired, or stands elsewhere, is left out. */
async function readResults(table: ReadableTable, nodes: readonly NodeItem[]): Promise<ReadonlyMap<string, string>> {
  const keys = [
    ...nodes.flatMap((node) =>
      node.error_epoch === undefined ? [] : [[node, errorKey(node.run_id, node.node_id, node.error_epoch)] as const],
    ),
    ...nodes.flatMap((node) =>
      // What is an object is too large for a view.
      node.output_epoch === undefined || node.output_blob !== undefined
        ? []
        : [[node, outputKey(node.run_id, node.node_id, node.output_epoch)] as const],
    ),
  ].slice(0, MOST_RESULTS);
  const results = new Map<string, string>();
  for (let from = 0; from < keys.length; from += READS_AT_ONCE) {
    const reads = keys.slice(from, from + READS_AT_ONCE).map(async ([node, key]) => {
      const item = await table.get(key);
      const beside = item === undefined ? undefined : readBeside(item);
      if (beside?.generation === node.generation && beside.value !== undefined) results.set(key.sk, beside.value);
    });
    await Promise.all(reads);
  }
  return results;
}

type Beside = ReturnType<typeof readBeside>;
const readBeside = (item: unknown) => readItem(besideItemSchema, item);
