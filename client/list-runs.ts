/** The living runs, page by page. */
import * as z from "zod";
import { runPartition } from "../shared/keys.ts";
import { fixed } from "../shared/limits.ts";
import { idSchema, isLiving, type RunStatus } from "../shared/model.ts";
import { checkMembers, invalidOption, signal, text, wholeFromOneTo } from "./given.ts";
import { unlessAborted } from "./poll.ts";
import { type ReadableTable, readRunItem } from "./read-run.ts";

export type ListRunsOptions = {
  /** Most runs of one page, 1 to 1,000. @default 100 */
  readonly limit?: number;
  /** Where the page before ended, as that page said. @default from the beginning */
  readonly cursor?: string;
  readonly signal?: AbortSignal;
};

/** A run as its own item shows it, without a look at its nodes. */
export type RunSummary = {
  readonly runId: string;
  readonly status: RunStatus;
  readonly createdAtMs: number;
  readonly deadlineAtMs: number;
  readonly nodeCount: number;
  readonly cancelReason?: string;
  /** A node of it is, or was, in doubt: `listDoubts({ runId })` says which is. */
  readonly hadDoubt?: true;
};

export type RunPage = {
  readonly runs: readonly RunSummary[];
  /** Missing where this page is the last. A page with one may be followed by an empty one. */
  readonly cursor?: string;
};

const rules = { limit: wholeFromOneTo(1_000), cursor: text, signal };
const SHARDS_AT_ONCE = 4;
const READS_AT_ONCE = 16;
/** Later than any look that the scanner plans: all living runs. */
const FAR_FUTURE_MS = Number.MAX_SAFE_INTEGER;
/** More runs than a shard will hold, and a number that DynamoDB takes. */
const ALL_RUNS = 2_147_483_647;

/**
 * Ordered by shard and id: the index's own order, when each run is looked at next, changes by the minute, and a page that
 * went on from there would show runs twice and others never. So each page reads the keys of a whole shard.
 */
export async function listRuns(table: ReadableTable, nowMs: number, options: ListRunsOptions): Promise<RunPage> {
  checkMembers("listRuns", options, rules);
  const { limit = 100, cursor, signal } = options;
  const begin = cursor === undefined ? { shard: 0, after: "" } : positionOf(cursor);
  const runs: RunSummary[] = [];
  for (let first = begin.shard; first < fixed.scanShards; first += SHARDS_AT_ONCE) {
    const shards = Array.from(
      { length: Math.min(SHARDS_AT_ONCE, fixed.scanShards - first) },
      (_, step) => first + step,
    );
    const lists = await unlessAborted(() => Promise.all(shards.map((shard) => idsOf(table, shard))), signal);
    for (const [step, ids] of lists.entries()) {
      const shard = first + step;
      const rest = shard === begin.shard ? ids.filter((id) => id > begin.after) : ids;
      for (let from = 0; from < rest.length; ) {
        const some = rest.slice(from, from + Math.min(READS_AT_ONCE, limit - runs.length));
        from += some.length;
        runs.push(...(await unlessAborted(() => summariesOf(table, some, nowMs), signal)));
        const isLast = from === rest.length && shard === fixed.scanShards - 1;
        if (runs.length === limit && !isLast) return { runs, cursor: cursorOf({ shard, after: some.at(-1) ?? "" }) };
      }
    }
  }
  return { runs };
}

/** An entry that moves while the index is read may be met twice. */
async function idsOf(table: ReadableTable, shard: number): Promise<readonly string[]> {
  const partitions = await table.dueRuns(shard, FAR_FUTURE_MS, ALL_RUNS);
  return [...new Set(partitions.map((partition) => partition.slice(runPartition("").length)))].sort();
}

/** The index may be a moment behind: what has ended or is gone by now is left out. */
async function summariesOf(
  table: ReadableTable,
  runIds: readonly string[],
  nowMs: number,
): Promise<readonly RunSummary[]> {
  const found = await Promise.all(runIds.map((runId) => readRunItem(table, runId, nowMs)));
  return found.flatMap((run) => {
    if (run === undefined || !isLiving(run.status)) return [];
    return [
      {
        runId: run.run_id,
        status: run.status,
        createdAtMs: run.created_at_ms,
        deadlineAtMs: run.deadline_at_ms,
        nodeCount: run.node_count,
        ...(run.cancel_reason === undefined ? {} : { cancelReason: run.cancel_reason }),
        // A doubt takes the run's time to live away until the run ends.
        ...(run.expires_at === undefined ? { hadDoubt: true as const } : {}),
      },
    ];
  });
}

const positionSchema = z.strictObject({
  shard: z
    .int()
    .min(0)
    .max(fixed.scanShards - 1),
  after: idSchema,
});
type Position = z.infer<typeof positionSchema>;

const cursorOf = (position: Position): string => Buffer.from(JSON.stringify(position)).toString("base64url");

function positionOf(cursor: string): Position {
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(cursor, "base64url").toString("utf8"));
  } catch {
    value = undefined;
  }
  const parsed = positionSchema.safeParse(value);
  if (!parsed.success) throw invalidOption("listRuns", "cursor", "must be one that an earlier page gave", cursor);
  return parsed.data;
}

/** Every living run, page after page. */
export async function* eachRun(
  table: ReadableTable,
  nowMs: () => number,
  options: ListRunsOptions,
): AsyncGenerator<RunSummary, void, undefined> {
  for (let page = await listRuns(table, nowMs(), options); ; ) {
    yield* page.runs;
    if (page.cursor === undefined) return;
    page = await listRuns(table, nowMs(), { ...options, cursor: page.cursor });
  }
}
