import { runPartition } from "../shared/keys.ts";
import { fixed } from "../shared/limits.ts";
import { isLiving, type RunItem, type RunStatus } from "../shared/model.ts";
import { noSuchRun } from "./errors.ts";
import { nodesOf, type ReadableTable, readRunItem } from "./read-run.ts";
import { type DoubtView, doubtOf } from "./view.ts";

export type ListDoubtsOptions = { readonly runId?: string; readonly signal?: AbortSignal };

/** A node in doubt, as it stands in a list over runs. */
export type DoubtListing = DoubtView & {
  readonly runId: string;
  readonly runStatus: RunStatus;
  readonly nodeId: string;
  readonly tool: string;
};

/** Later than any look that the scanner plans: all living runs. */
const FAR_FUTURE_MS = Number.MAX_SAFE_INTEGER;
/** More runs than a shard will hold, and a number that DynamoDB takes. */
const ALL_RUNS = 2_147_483_647;
const READS_AT_ONCE = 16;

export async function listDoubts(
  table: ReadableTable,
  nowMs: number,
  { runId }: ListDoubtsOptions,
): Promise<readonly DoubtListing[]> {
  if (runId !== undefined) {
    const run = await readRunItem(table, runId, nowMs);
    if (run === undefined) throw noSuchRun(runId);
    return sorted(await doubtsOf(table, run));
  }
  const shards = Array.from({ length: fixed.scanShards }, (_, shard) => table.dueRuns(shard, FAR_FUTURE_MS, ALL_RUNS));
  const runIds = (await Promise.all(shards)).flat().map((pk) => pk.slice(runPartition("").length));
  const found: DoubtListing[] = [];
  for (let from = 0; from < runIds.length; from += READS_AT_ONCE) {
    const some = runIds.slice(from, from + READS_AT_ONCE).map(async (id) => {
      const run = await readRunItem(table, id, nowMs);
      // A doubt takes the run's time to live away until the run ends, so only such a run's nodes need be read.
      return run === undefined || run.expires_at !== undefined ? [] : doubtsOf(table, run);
    });
    found.push(...(await Promise.all(some)).flat());
  }
  return sorted(found);
}

async function doubtsOf(table: ReadableTable, run: RunItem): Promise<readonly DoubtListing[]> {
  if (!isLiving(run.status)) return [];
  return (await nodesOf(table, run)).flatMap((node) => {
    const doubt = doubtOf(node);
    if (doubt === undefined) return [];
    return [{ runId: run.run_id, runStatus: run.status, nodeId: node.node_id, tool: node.tool, ...doubt }];
  });
}

const sorted = (doubts: readonly DoubtListing[]): readonly DoubtListing[] =>
  [...doubts].sort((left, right) => left.sinceMs - right.sinceMs);
