/** What an owner does with its node: looks at the run, runs the tool or looks an open attempt up, and records what came of it. */
import { commit } from "./commit.ts";
import type { ErrorRecord } from "./errors.ts";
import { type Executed, execute, reconcile } from "./execute.ts";
import { runKey } from "./keys.ts";
import { keptMs } from "./limits.ts";
import { loadInput } from "./load-input.ts";
import { type NodeItem, type RunItem, readItem, runItemSchema } from "./model.ts";
import { nextStep, type Outcome, type Situation } from "./outcome.ts";
import { type Pulse, startPulse } from "./pulse.ts";
import { UNSETTLED } from "./settle.ts";
import type { AnyTool } from "./tool.ts";
import { hasEarlierOpenAttempt } from "./transitions.ts";
import type { Delivery, Invocation, Verdict, WorkerWorld } from "./worker-world.ts";

/** Why the claim was made: to run the tool, or to look up what an open attempt did. */
export type Purpose = "execute" | "reconcile";

export type Owned = {
  readonly node: NodeItem;
  readonly purpose: Purpose;
  readonly delivery: Delivery;
  readonly invocation: Invocation;
  /** Monotonic time from before the claim was sent. */
  readonly claimedAtMs: number;
};

/** The node is this invocation's: find out what is to be known, and record it. */
export async function own(world: WorkerWorld, owned: Owned): Promise<Verdict> {
  const { node, delivery, claimedAtMs } = owned;
  world.count(owned.purpose === "execute" ? "Claimed" : "ClaimedToReconcile");
  const pulse = startPulse(world, node, delivery.receiptHandle, claimedAtMs, {
    // What an open attempt did is to be found out in any case.
    stopsOnCancel: owned.purpose === "execute",
  });
  const { leaseMs, skewMs } = world.limits;
  const visible = world.pulse.queue
    .hide(delivery.receiptHandle, leaseMs + skewMs)
    .catch(() => world.count("ExtendVisibilityFailed"));
  let run: RunItem | undefined;
  let executed: Executed;
  try {
    const read = await readRun(world, node);
    run = read.run;
    executed = read.isRead ? await attempt(world, owned, run, pulse) : tableUnreadable(world, owned.purpose);
  } finally {
    await visible;
    await pulse.end();
  }
  try {
    return await record(world, owned, run, executed, pulse);
  } finally {
    // The environment would be frozen with the tool's promise in it, thaw later and let it act after a take-over.
    if (executed.stillRunning) await world.endProcess();
  }
}

type ReadRun = { readonly isRead: boolean; readonly run: RunItem | undefined };

async function readRun(world: WorkerWorld, node: NodeItem): Promise<ReadRun> {
  try {
    const item = await world.table.get(runKey(node.run_id));
    const run = item === undefined ? undefined : readItem(runItemSchema, item);
    return { isRead: true, run: run?.generation === node.generation ? run : undefined };
  } catch (error) {
    world.log.warn("run could not be read now", { node_id: node.node_id, error: String(error) });
    return { isRead: false, run: undefined };
  }
}

const notCalled = (outcome: Outcome): Executed => ({ outcome, stillRunning: false, partDone: false });

/** The attempt is given back: its tool was not called, and that is certain. A look-up that could not be made is one that found nothing. */
const tableUnreadable = (world: WorkerWorld, purpose: Purpose): Executed =>
  purpose === "execute"
    ? notCalled({ is: "not_started", why: "table unreadable", delayMs: world.limits.backoffBaseMs })
    : notCalled(foundNothing("table_unreadable", "the table could not be read"));

const foundNothing = (code: string, message: string): Outcome => ({
  is: "found_nothing",
  error: { name: "NotReconciled", code, message },
});

async function attempt(world: WorkerWorld, owned: Owned, run: RunItem | undefined, pulse: Pulse): Promise<Executed> {
  const { node, purpose } = owned;
  const tool = world.tools.get(node.tool);
  if (tool === undefined) return tableUnreadable(world, purpose);
  if (purpose === "execute") {
    const off = calledOffBy(run) ?? tooLate(world, node, tool);
    if (off !== undefined) return notCalled(off);
  }
  const loaded = await loadInput(world, node, tool).catch((error: unknown) => {
    world.log.warn("input could not be read now", { node_id: node.node_id, error: String(error) });
    return undefined;
  });
  if (loaded === undefined) return tableUnreadable(world, purpose);
  if (loaded.is === "bad") {
    return notCalled(
      purpose === "execute" ? { is: "permanent", error: loaded.error } : { is: "found_nothing", error: loaded.error },
    );
  }
  return startIfTimeIsLeft(world, owned, tool, loaded.input, pulse);
}

function calledOffBy(run: RunItem | undefined): Outcome | undefined {
  if (run === undefined) return calledOff("EXPIRED", "run_expired", "the run of this node has expired");
  if (run.status === "RUNNING") return undefined;
  return calledOff("CANCELLED", "run_cancelled", run.cancel_reason ?? "the run was cancelled");
}

const calledOff = (status: "CANCELLED" | "EXPIRED", code: string, message: string): Outcome => ({
  is: "called_off",
  status,
  error: { name: "CalledOff", code, message },
});

/**
 * A provider forgets its keys: what was begun so long ago may not be repeated under its key any more. The function timeout
 * is kept in hand, since this very call may come so late.
 */
function tooLate({ clock, limits }: WorkerWorld, node: NodeItem, tool: AnyTool): Outcome | undefined {
  if (tool.effect !== "idempotent" || !hasEarlierOpenAttempt(node) || node.open_since_ms === undefined)
    return undefined;
  const lifetimeMs = tool.keyLifetimeMs ?? limits.keyLifetimeMs;
  if (clock.nowMs() < node.open_since_ms + lifetimeMs - limits.functionTimeoutMs) return undefined;
  return {
    is: "too_late",
    why: `the idempotency key of the open attempt is older than ${lifetimeMs} ms, less the function timeout`,
  };
}

/** The last look before the tool is called: at the lease by the monotonic clock, at the deadline, at the invocation. */
async function startIfTimeIsLeft(
  world: WorkerWorld,
  owned: Owned,
  tool: AnyTool,
  input: unknown,
  pulse: Pulse,
): Promise<Executed> {
  const { clock, limits } = world;
  const { node, invocation, purpose } = owned;
  const leaseLeftMs = pulse.leaseEndsAtMs() - clock.monotonicMs();
  const invocationLeftMs = invocation.remainingMs() - keptMs(limits);
  const isTooLittle = pulse.isLost() || leaseLeftMs <= limits.skewMs || invocationLeftMs <= 0;
  if (purpose === "reconcile") {
    if (isTooLittle) return notCalled(foundNothing("too_little_time", "too little time was left to ask"));
    world.count("ReconcileCalled");
    return reconcile(world, { node, tool, input, pulse, invocation });
  }
  if (node.deadline_at_ms <= clock.nowMs()) {
    return notCalled(calledOff("EXPIRED", "deadline_passed", "the run's deadline passed before the tool was called"));
  }
  if (pulse.isCancelled()) {
    return notCalled(calledOff("CANCELLED", "run_cancelled", "the run was cancelled before the tool was called"));
  }
  if (isTooLittle) return notCalled({ is: "not_started", why: "too little time left", delayMs: 0 });
  if (tool.lease === "invocation" && !(await pulse.hold(invocation.remainingMs()))) {
    return notCalled({ is: "not_started", why: "lease could not be held", delayMs: limits.backoffBaseMs });
  }
  world.count("ToolCalled");
  return execute(world, { node, tool, input, pulse, invocation });
}

async function record(
  world: WorkerWorld,
  owned: Owned,
  run: RunItem | undefined,
  { outcome, partDone }: Executed,
  pulse: Pulse,
): Promise<Verdict> {
  const { clock, chance, limits, log, tools } = world;
  const { node, invocation } = owned;
  const situation: Situation = {
    node,
    tool: tools.get(node.tool),
    runCancelled: pulse.isCancelled(),
    partDone,
    nowMs: clock.nowMs(),
    limits,
    fraction: chance.fraction(),
  };
  let step = nextStep(outcome, situation);
  const fields = { run_id: node.run_id, node_id: node.node_id, epoch: node.epoch, outcome: outcome.is };
  try {
    const budgetMs = Math.max(0, Math.min(limits.commitBufferMs, invocation.remainingMs() - 500));
    const recorded = partDone ? { ...node, part_done: true } : node;
    let committed = await commit(world, recorded, step, run, budgetMs);
    if (committed.is === "not_kept") {
      log.warn("output could not be kept", { ...fields, error: committed.error.message });
      step = nextStep(withoutOutput(owned.purpose, committed.error), situation);
      committed = await commit(world, recorded, step, run, budgetMs / 2);
    }
    if (committed.is === "committed") {
      world.count(countOf[step.is]);
      log.info("attempt recorded", { ...fields, step: step.is, ...(step.is === "end" ? { status: step.status } : {}) });
      return "acknowledge";
    }
    world.count("CommitRefused");
    const movedOn = committed.is === "lost" && committed.movedOn;
    log.warn("lease was lost, outcome discarded", { ...fields, movedOn });
    // An old receipt can delete the new owner's message, so the message is left unless nothing waits for it.
    return movedOn ? "acknowledge" : "redeliver";
  } catch (error) {
    if (typeof error !== "object" || error === null || Reflect.get(error, "code") !== UNSETTLED) throw error;
    world.count("CommitUnsettled");
    log.error("outcome could not be recorded in time", { ...fields, error: String(error) });
    return "redeliver";
  }
}

/** The tool has acted, and what it brought is gone: nobody can go on from that, so the effect class decides, or reconcile is asked again. */
const withoutOutput = (purpose: Purpose, error: ErrorRecord): Outcome =>
  purpose === "execute" ? { is: "unknown", error } : { is: "found_nothing", error };

const countOf = { end: "NodeEnded", again: "NodeAgain", doubt: "NodeInDoubt" } as const;
