/** One pass over the living runs: what is owed is done or woken, and each run gets the time of its next look. */
import { advanceNode, advanceTheRun, endTheRun } from "./advance.ts";
import { dependentsOf } from "./beside.ts";
import { nodePrefix, runPartition } from "./keys.ts";
import { fixed, type Limits } from "./limits.ts";
import { isLiving, type NodeItem, nodeItemSchema, type RunItem, readItem, runItemSchema } from "./model.ts";
import { owed, type SeenNode } from "./owed.ts";
import type { Fields, Outgoing, World } from "./ports.ts";
import { prolongRun } from "./prolong.ts";
import { settle } from "./settle.ts";
import { moveScan } from "./transitions.ts";

export type ScanReport = { readonly runs: number; readonly messages: number; readonly failures: number };

const budgetMs = 5_000;
/** The part of the function's time that is kept to finish the run that is being looked at. */
const keptShare = 1 / 6;

/** Bounded in runs and in time: what is left is the next pass's. */
export async function scanPass(world: World, limits: Limits, remainingMs: () => number): Promise<ScanReport> {
  const report = { runs: 0, messages: 0, failures: 0 };
  const isOver = (): boolean => remainingMs() < limits.plainFunctionTimeoutMs * keptShare;
  // Each pass begins with another shard, so that a pass that ends early does not always leave the same ones.
  const first = Math.floor(world.chance.fraction() * fixed.scanShards);
  for (let step = 0; step < fixed.scanShards && !isOver(); step++) {
    await scanShard(world, limits, (first + step) % fixed.scanShards, report, isOver);
  }
  // A metric is paid for each month in which anything writes it, and an idle deployment has nothing to say.
  if (report.runs > 0) world.count("RunsScanned", report.runs);
  return report;
}

type Tally = { runs: number; messages: number; failures: number };

/**
 * What cannot be scanned keeps its place at the head of the index, since nothing is known of it that could be written. So
 * for each such run one more is asked for, until the others have had their turn.
 */
async function scanShard(
  world: World,
  limits: Limits,
  shard: number,
  report: Tally,
  isOver: () => boolean,
): Promise<void> {
  const looked = new Set<string>();
  let failed = 0;
  for (;;) {
    const due = await dueRuns(world, shard, fixed.scanRunsPerShard + failed, report);
    const fresh = due.filter((partition) => !looked.has(partition));
    if (fresh.length === 0) return;
    const before = failed;
    for (const partition of fresh) {
      if (isOver()) return;
      looked.add(partition);
      try {
        report.messages += await scanRun(world, limits, partition);
        report.runs += 1;
      } catch (error) {
        // One run that cannot be read, or is contended, must not keep the others waiting.
        failed += 1;
        failure(world, report, "run could not be scanned", { partition, error: String(error) });
      }
    }
    if (failed === before) return;
  }
}

async function dueRuns(world: World, shard: number, limit: number, report: Tally): Promise<readonly string[]> {
  try {
    return await world.table.dueRuns(shard, world.clock.nowMs(), limit);
  } catch (error) {
    failure(world, report, "shard could not be read", { shard, error: String(error) });
    return [];
  }
}

function failure(world: World, report: Tally, what: string, fields: Fields): void {
  report.failures += 1;
  world.count("ScanFailed");
  world.log.error(what, fields);
}

/** @returns how many messages were sent. */
async function scanRun(world: World, limits: Limits, partition: string): Promise<number> {
  const nowMs = world.clock.nowMs();
  // The run before its nodes: a node that ends in between is then seen as ended, or looked at again.
  const item = await world.table.get({ pk: partition, sk: "RUN" });
  if (item === undefined) return 0;
  const run = readItem(runItemSchema, item);
  // The index may be stale, and a pass beside this one may have been here already.
  if (!isLiving(run.status) || run.scan_at_ms === undefined || run.scan_at_ms > nowMs) return 0;
  const seen = await nodesOf(world, run);
  const todo = owed(run, seen, nowMs, limits);
  const outgoing: Outgoing[] = [...todo.messages];
  const { run_id: runId, generation } = run;
  for (const { nodeId, ordinals, failed } of todo.advances) {
    outgoing.push(...(await advanceNode(world, { runId, generation, ordinals, failed }, nodeId)));
  }
  if (todo.advanceRun !== undefined) await advanceTheRun(world, { runId, generation, ...todo.advanceRun });
  else if (todo.endRun) await endTheRun(world, run);
  if (run.expires_at === undefined) await prolongRun(world, run, limits);
  const unsent = await world.queue.send(outgoing);
  world.count("MessagesSentByScanner", outgoing.length - unsent.length);
  // Where nothing was accepted, the next look counts from the last one, so that all of it is owed again. Else what was accepted
  // would be sent again each minute for a queue that takes nothing; what was not waits for its next step.
  const lookedAtMs = outgoing.length > 0 && unsent.length === outgoing.length ? run.scanned_at_ms : nowMs;
  // Refused: a command or another pass has moved it, and that is the newer word.
  await settle(world, budgetMs, () => world.table.write(moveScan(run, todo.nextScanAtMs, lookedAtMs)));
  // Said only now: a run that kept its place at the head of the index would keep others waiting for as long as its queue is down.
  if (unsent.length > 0)
    throw new Error(`${unsent.length} of ${outgoing.length} messages were not accepted by the queue`);
  return outgoing.length;
}

async function nodesOf(world: World, run: RunItem): Promise<readonly SeenNode[]> {
  const items = await world.table.query(runPartition(run.run_id), nodePrefix);
  const nodes = items
    .map((item): NodeItem => readItem(nodeItemSchema, item))
    .filter((node) => node.generation === run.generation);
  return Promise.all(nodes.map(async (node) => ({ node, dependents: await dependentsOf(world.table, node) })));
}
