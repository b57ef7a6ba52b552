import { dependentsKey, nodePrefix, runKey, runPartition } from "../shared/keys.ts";
import { besideItemSchema, idSchema, nodeItemSchema, type RunItem, readItem, runItemSchema } from "../shared/model.ts";
import type { Table } from "../shared/ports.ts";
import { type RunView, runView } from "./view.ts";

export type ReadableTable = Pick<Table, "get" | "query">;

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

export async function withNodes(table: ReadableTable, run: RunItem): Promise<RunView> {
  const pk = runPartition(run.run_id);
  const nodes = (await table.query(pk, nodePrefix)).map((item) => readItem(nodeItemSchema, item));
  const dependentsBeside = new Map<string, ReturnType<typeof readBeside>>();
  if (nodes.some((node) => node.dependents_beside === true)) {
    const prefix = dependentsKey(run.run_id, "").sk;
    for (const item of await table.query(pk, prefix)) {
      const beside = readBeside(item);
      dependentsBeside.set(beside.sk.slice(prefix.length), beside);
    }
  }
  return runView({ run, nodes, dependentsBeside });
}

const readBeside = (item: unknown) => readItem(besideItemSchema, item);
