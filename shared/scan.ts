/** One pass over the living runs: what is owed is done or woken, and each run gets the time of its next look. */
import { advanceNode, advanceTheRun, endTheRun } from "./advance.ts";
import { dependentsOf } from "./beside.ts";
import { nodePrefix, runPartition } from "./keys.ts";
import { fixed, type Limits } from "./limits.ts";
import { isLiving, type NodeItem, nodeItemSchema, type RunItem, readItem, runItemSchema } from "./model.ts";
import { owed, type SeenNode } from "./owed.ts";
import type { Outgoing, World } from "./ports.ts";
import { settle } from "./settle.ts";
import { moveScan } from "./transitions.ts";

export type ScanReport = { readonly runs: number; readonly messages: number; readonly failures: number };

const budgetMs = 5_000;
/** Enough to finish the run that is being looked at. */
const keptMs = 10_000;

/** Bounded in runs and in time: what is left is the next pass's. */
export async function scanPass(world: World, limits: Limits, remainingMs: () => number): Promise<ScanReport> {
  let runs = 0;
  let messages = 0;
  let failures = 0;
  // Each pass begins with another shard, so that a pass that ends early does not always leave the same ones.
  const first = Math.floor(world.chance.fraction() * fixed.scanShards);
  for (let step = 0; step < fixed.scanShards; step++) {
    const shard = (first + step) % fixed.scanShards;
    for (const partition of await world.table.dueRuns(shard, world.clock.nowMs(), fixed.scanRunsPerShard)) {
      if (remainingMs() < keptMs) return { runs, messages, failures };
      try {
        messages += await scanRun(world, limits, partition);
        runs += 1;
      } catch (error) {
        // One run that cannot be read, or is contended, must not keep the others waiting.
        failures += 1;
        world.count("ScanFailed");
        world.log.error("run could not be scanned", { partition, error: String(error) });
      }
    }
  }
  world.count("RunsScanned", runs);
  return { runs, messages, failures };
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
  const unsent = await world.queue.send(outgoing);
  world.count("MessagesSentByScanner", outgoing.length - unsent.length);
  if (unsent.length > 0)
    throw new Error(`${unsent.length} of ${outgoing.length} messages were not accepted by the queue`);
  // Refused: a command or another pass has moved it, and that is the newer word.
  await settle(world, budgetMs, () => world.table.write(moveScan(run, todo.nextScanAtMs, nowMs)));
  return outgoing.length;
}

async function nodesOf(world: World, run: RunItem): Promise<readonly SeenNode[]> {
  const items = await world.table.query(runPartition(run.run_id), nodePrefix);
  const nodes = items
    .map((item): NodeItem => readItem(nodeItemSchema, item))
    .filter((node) => node.generation === run.generation);
  return Promise.all(nodes.map(async (node) => ({ node, dependents: await dependentsOf(world.table, node) })));
}
