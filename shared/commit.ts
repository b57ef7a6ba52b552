/** Records an attempt's outcome and frees what waited for it, in one transaction. */
import { dependentsOf } from "./beside.ts";
import { describeError, type ErrorRecord } from "./errors.ts";
import { isTerminal, type NodeItem, nodeItemSchema, type RunItem, readItem } from "./model.ts";
import type { NextStep } from "./outcome.ts";
import { type Blob, recordResult } from "./record.ts";
import { settle } from "./settle.ts";
import { endNode, enterDoubt, keyText, noRecord, ownedAt, requeue } from "./transitions.ts";
import type { WorkerWorld } from "./worker-world.ts";
import type { Write } from "./write.ts";

export type Committed =
  | { readonly is: "committed" }
  /** Another owner has it. `movedOn`: nothing is left for this message to do. */
  | { readonly is: "lost"; readonly movedOn: boolean };

/** An output that must stand in an object, and the object could not be put: nothing was written. */
export type NotKept = { readonly is: "not_kept"; readonly error: ErrorRecord };

/** @throws UnsettledError when the table did not answer within the budget: the message must come again. */
export async function commit(
  world: WorkerWorld,
  node: NodeItem,
  step: NextStep,
  run: RunItem | undefined,
  budgetMs: number,
): Promise<Committed | NotKept> {
  const { record, before, blob } =
    step.is !== "end" && step.error === undefined
      ? { record: noRecord, before: [], blob: undefined }
      : recordResult(node, step.is === "end" ? step.output : undefined, step.error);
  if (blob !== undefined) {
    const startedAtMs = world.clock.monotonicMs();
    // One half for the object and its tries, so that whatever comes of it can still be recorded in the other.
    const error = await putBlob(world, blob, budgetMs / 2);
    const leftMs = Math.max(0, budgetMs - (world.clock.monotonicMs() - startedAtMs));
    // What did not succeed has no dependents that would read it: it ends as it would, without the value.
    if (error !== undefined && step.is === "end" && step.status !== "SUCCEEDED")
      return commit(world, node, { ...step, output: undefined }, run, leftMs);
    if (error !== undefined) return { is: "not_kept", error };
  }
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

/** @returns why it could not be put within the budget, or undefined where it stands. */
async function putBlob(world: WorkerWorld, { key, text }: Blob, budgetMs: number): Promise<ErrorRecord | undefined> {
  try {
    await settle(world, budgetMs, () => world.blobs.put(key, text));
    return undefined;
  } catch (error) {
    world.count("OutputNotKept");
    return { ...describeError(error), code: "output_not_kept" };
  }
}

/**
 * One's own mark on a node that is as this commit leaves it: it was applied, and its answer lost (I10). Whoever ends a node
 * whose lease is over leaves the mark as well, but another status.
 */
function judge(node: NodeItem, step: NextStep, old: unknown): Committed {
  if (old === undefined) return { is: "lost", movedOn: true };
  const found = readItem(nodeItemSchema, old);
  const leaves = step.is === "end" ? step.status : step.is === "doubt" ? "IN_DOUBT" : "READY";
  if (found.claim_id === node.claim_id && found.epoch === node.epoch && found.status === leaves)
    return { is: "committed" };
  return { is: "lost", movedOn: isTerminal(found.status) || found.dispatch_id !== node.dispatch_id };
}
