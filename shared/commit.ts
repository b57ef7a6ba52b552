/** Records an attempt's outcome and frees what waited for it, in one transaction. */
import { dependentsOf } from "./beside.ts";
import { isTerminal, type NodeItem, nodeItemSchema, type RunItem, readItem } from "./model.ts";
import type { NextStep } from "./outcome.ts";
import { recordResult } from "./record.ts";
import { settle } from "./settle.ts";
import { endNode, enterDoubt, keyText, noRecord, ownedAt, requeue } from "./transitions.ts";
import type { WorkerWorld } from "./worker-world.ts";
import type { Write } from "./write.ts";

export type Committed =
  | { readonly is: "committed" }
  /** Another owner has it. `movedOn`: nothing is left for this message to do. */
  | { readonly is: "lost"; readonly movedOn: boolean };

/** @throws UnsettledError when the table did not answer within the budget: the message must come again. */
export async function commit(
  world: WorkerWorld,
  node: NodeItem,
  step: NextStep,
  run: RunItem | undefined,
  budgetMs: number,
): Promise<Committed> {
  const { record, before } =
    step.is !== "end" && step.error === undefined
      ? { record: noRecord, before: [] }
      : recordResult(node, step.is === "end" ? step.output : undefined, step.error);
  for (const write of before) await settle(world, budgetMs, () => world.table.write(write));
  const dependents = step.is === "end" ? await dependentsOf(world.table, node) : [];
  const notAsExpected = new Set<string>();
  const build = (): Write[] => {
    const nowMs = world.clock.nowMs();
    switch (step.is) {
      case "again":
        return requeue(node, { ...step, record }, nowMs);
      case "doubt":
        return enterDoubt(node, ownedAt(node.epoch), step.why, record, nowMs).filter(
          (write) => !notAsExpected.has(keyText(write)),
        );
      case "end":
        return endNode({
          node,
          guard: ownedAt(node.epoch),
          ending: { status: step.status, effect: step.effect, certain: step.certain, record },
          dependents,
          nowMs,
          ...(run === undefined ? {} : { inline: { run, notAsExpected } }),
        });
      default:
        return step satisfies never;
    }
  };
  for (;;) {
    const writes = build();
    const answer = await settle(world, budgetMs, () => world.table.transact(writes));
    if (answer.is === "applied") return { is: "committed" };
    const own = answer.refusals[0];
    if (own !== undefined && own !== null) return judge(node, step, own.old);
    // Only the refusal of one's own item means that the lease is lost; what else is not as expected is left to the entry.
    for (const [index, refusal] of answer.refusals.entries()) {
      const write = writes[index];
      if (refusal !== null && write !== undefined) notAsExpected.add(keyText(write));
    }
  }
}

/**
 * One's own mark on a node that is as this commit leaves it: it was applied, and its answer lost (I10). Whoever ends a node
 * whose lease is over leaves the mark as well, but another status.
 */
function judge(node: NodeItem, step: NextStep, old: unknown): Committed {
  if (old === undefined) return { is: "lost", movedOn: true };
  const found = readItem(nodeItemSchema, old);
  const leaves = step.is === "end" ? step.status : "READY";
  if (found.claim_id === node.claim_id && found.epoch === node.epoch && found.status === leaves)
    return { is: "committed" };
  return { is: "lost", movedOn: isTerminal(found.status) || found.dispatch_id !== node.dispatch_id };
}
