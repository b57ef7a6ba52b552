/** Takes an ended node out of what others wait for. The relay and the scanner both do it, as often as they like (I11). */
import { dependentsOf } from "./beside.ts";
import { isLiving, type NodeItem, nodeItemSchema, type RunItem, readItem, runItemSchema } from "./model.ts";
import type { Outgoing, World } from "./ports.ts";
import { settle } from "./settle.ts";
import { advance, advanceRun, dispatchIdAt, endRun, makeReady, skip } from "./transitions.ts";

export type Ended = {
  readonly runId: string;
  readonly generation: string;
  /** Nodes that have ended. */
  readonly ordinals: ReadonlySet<number>;
  /** Whether one of them ended otherwise than SUCCEEDED. */
  readonly failed: boolean;
};

const budgetMs = 10_000;

const firstMessage = (node: NodeItem): Outgoing => ({
  dispatch: { run_id: node.run_id, node_id: node.node_id, dispatch_id: dispatchIdAt(0) },
  delayMs: 0,
  pool: node.pool,
});

/** @returns the node's message where this pass or an earlier one made it READY and nobody has run it yet. */
export async function advanceNode(world: World, ended: Ended, nodeId: string): Promise<readonly Outgoing[]> {
  const { runId, generation, ordinals, failed } = ended;
  const answer = await settle(world, budgetMs, () =>
    world.table.write(advance(runId, generation, nodeId, ordinals, failed)),
  );
  if (answer.is === "refused") return readyAgain(answer.old, ended);
  // What the DELETE returned decides, never an earlier read. Whoever finds the set empty goes on, not whoever emptied it:
  // that one may have died in between.
  const node = readItem(nodeItemSchema, answer.item);
  if (node.waiting_on !== undefined) return [];
  return node.dep_failed === true ? skipNode(world, node) : readyNode(world, node, ended);
}

async function readyNode(world: World, node: NodeItem, ended: Ended): Promise<readonly Outgoing[]> {
  const answer = await settle(world, budgetMs, () => world.table.write(makeReady(node, world.clock.nowMs())));
  if (answer.is === "refused") return readyAgain(answer.old, ended);
  return [firstMessage(node)];
}

async function skipNode(world: World, node: NodeItem): Promise<readonly Outgoing[]> {
  const dependents = await dependentsOf(world.table, node);
  const writes = skip(node, dependents, world.clock.nowMs());
  // Refused: another pass has skipped it, and its entry is in the table.
  await settle(world, budgetMs, () => world.table.transact(writes));
  return [];
}

/** A second pass over the same completion finds the node READY and just sends again: the first may have died before it sent. */
function readyAgain(old: unknown, ended: Ended): readonly Outgoing[] {
  if (old === undefined) return [];
  const node = readItem(nodeItemSchema, old);
  const untouched =
    node.generation === ended.generation && node.status === "READY" && node.dispatch_id === dispatchIdAt(0);
  return untouched ? [firstMessage(node)] : [];
}

/** The run waits on its sinks as nodes wait on theirs; when none is left it ends. */
export async function advanceTheRun(world: World, ended: Ended): Promise<void> {
  const { runId, generation, ordinals, failed } = ended;
  const answer = await settle(world, budgetMs, () =>
    world.table.write(advanceRun(runId, generation, ordinals, failed)),
  );
  if (answer.is === "refused") return;
  const run = readItem(runItemSchema, answer.item);
  if (run.waiting_on === undefined) await endTheRun(world, run);
}

/** Refused while the run lives means that a cancel came between: the result is computed again from what it is now. */
export async function endTheRun(world: World, run: RunItem): Promise<void> {
  let seen = run;
  for (;;) {
    const asSeen = seen;
    const answer = await settle(world, budgetMs, () => world.table.write(endRun(asSeen, world.clock.nowMs())));
    if (answer.is === "applied" || answer.old === undefined) return;
    const found = readItem(runItemSchema, answer.old);
    if (!isLiving(found.status) || found.generation !== run.generation || found.waiting_on !== undefined) return;
    seen = found;
  }
}
