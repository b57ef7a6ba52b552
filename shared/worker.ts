/** One message: look at the state, own the node, run its tool, record the outcome. */
import { dependentsOf } from "./beside.ts";
import { endingWithoutAttempt, explainRefusedClaim } from "./claim-refused.ts";
import { commit } from "./commit.ts";
import { type Executed, execute } from "./execute.ts";
import { runKey } from "./keys.ts";
import { loadInput } from "./load-input.ts";
import { dispatchSchema, type NodeItem, nodeItemSchema, type RunItem, readItem, runItemSchema } from "./model.ts";
import { nextStep, type Outcome } from "./outcome.ts";
import type { Dispatch } from "./ports.ts";
import { type Pulse, startPulse } from "./pulse.ts";
import { settle, UNSETTLED } from "./settle.ts";
import type { AnyTool } from "./tool.ts";
import { claim, endNode } from "./transitions.ts";
import type { Delivery, Invocation, Verdict, WorkerWorld } from "./worker-world.ts";
import type { Item } from "./write.ts";

/** @throws for what only a later delivery can bring right: the message must then be redelivered. */
export async function handleDelivery(world: WorkerWorld, delivery: Delivery, invocation: Invocation): Promise<Verdict> {
  const parsed = parseDispatch(delivery.body);
  if (!parsed.ok) {
    await world.queue.reject({ body: delivery.body, source: "dispatch", reason: parsed.reason });
    world.count("MessageRejected");
    return "acknowledge";
  }
  const { limits } = world;
  // Start no work that the invocation cannot hold.
  if (invocation.remainingMs() < limits.commitBufferMs + limits.abortGraceMs) return "redeliver";
  const nowMs = world.clock.nowMs();
  const claimedAtMs = world.clock.monotonicMs();
  const claimId = world.chance.id();
  const write = claim({
    runId: parsed.dispatch.run_id,
    nodeId: parsed.dispatch.node_id,
    dispatchId: parsed.dispatch.dispatch_id,
    claimId,
    messageId: delivery.messageId,
    nowMs,
    leaseMs: limits.leaseMs,
    skewMs: limits.skewMs,
    remainingMs: invocation.remainingMs(),
    tools: [...world.tools.keys()],
  });
  const answer = await settle(world, limits.commitBufferMs, () => world.table.write(write));
  if (answer.is === "applied")
    return own(world, readItem(nodeItemSchema, answer.item), delivery, invocation, claimedAtMs);
  return refused(world, answer.old, parsed.dispatch, claimId, delivery, invocation, claimedAtMs);
}

type Parsed = { readonly ok: true; readonly dispatch: Dispatch } | { readonly ok: false; readonly reason: string };

function parseDispatch(body: string): Parsed {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    return { ok: false, reason: "body must be JSON" };
  }
  const parsed = dispatchSchema.safeParse(value);
  if (parsed.success) return { ok: true, dispatch: parsed.data };
  const issue = parsed.error.issues[0];
  return { ok: false, reason: `${issue?.path.join(".") || "body"}: ${issue?.message ?? "is no dispatch message"}` };
}

async function refused(
  world: WorkerWorld,
  old: Item | undefined,
  dispatch: Dispatch,
  claimId: string,
  delivery: Delivery,
  invocation: Invocation,
  claimedAtMs: number,
): Promise<Verdict> {
  if (old === undefined) {
    const reason = `no node ${JSON.stringify(dispatch.node_id)} in run ${JSON.stringify(dispatch.run_id)}, or the run has expired`;
    await world.queue.reject({ body: delivery.body, source: "dispatch", reason });
    world.count("MessageRejected");
    return "acknowledge";
  }
  const node = readItem(nodeItemSchema, old);
  const nowMs = world.clock.nowMs();
  const why = explainRefusedClaim({
    node,
    dispatchId: dispatch.dispatch_id,
    claimId,
    messageId: delivery.messageId,
    nowMs,
    skewMs: world.limits.skewMs,
    tools: new Set(world.tools.keys()),
  });
  switch (why.is) {
    case "mine":
      return own(world, node, delivery, invocation, claimedAtMs);
    case "superfluous":
      world.count("MessageSuperfluous");
      world.log.debug("message is superfluous", { ...dispatch, why: why.why });
      return "acknowledge";
    case "wait":
      await comeBackIn(world, delivery, why.untilMs - nowMs);
      return "redeliver";
    case "end":
      return endAsFound(world, node, why, nowMs);
    case "unknown_tool":
      world.count("UnknownTool");
      world.log.error("no tool of that name is deployed", { ...dispatch, tool: node.tool });
      return "acknowledge";
    default:
      return why satisfies never;
  }
}

const comeBackIn = async (world: WorkerWorld, delivery: Delivery, ms: number): Promise<void> => {
  await world.queue.hide(delivery.receiptHandle, Math.max(1_000, ms)).catch((error: unknown) => {
    world.log.warn("visibility could not be changed; the message comes back when its own ends", {
      error: String(error),
    });
  });
};

async function endAsFound(
  world: WorkerWorld,
  node: NodeItem,
  over: Extract<ReturnType<typeof explainRefusedClaim>, { is: "end" }>,
  nowMs: number,
): Promise<Verdict> {
  const error = {
    name: "NotRun",
    code: over.why.replaceAll(" ", "_"),
    message: `${over.why} before another attempt could start`,
  };
  const writes = endNode({
    node,
    guard: over.guard,
    ending: endingWithoutAttempt(node, over.status, error),
    dependents: await dependentsOf(world.table, node),
    nowMs,
  });
  const answer = await settle(world, world.limits.commitBufferMs, () => world.table.transact(writes));
  return answer.is === "applied" ? "acknowledge" : "redeliver";
}

/** The node is this invocation's: run it and record what came of it. */
async function own(
  world: WorkerWorld,
  node: NodeItem,
  delivery: Delivery,
  invocation: Invocation,
  claimedAtMs: number,
): Promise<Verdict> {
  world.count("Claimed");
  const pulse = startPulse(world, node, delivery.receiptHandle, claimedAtMs);
  const { leaseMs, skewMs } = world.limits;
  const visible = world.pulse.queue
    .hide(delivery.receiptHandle, leaseMs + skewMs)
    .catch(() => world.count("ExtendVisibilityFailed"));
  let run: RunItem | undefined;
  let executed: Executed;
  try {
    const read = await readRun(world, node);
    run = read.run;
    executed = read.isRead ? await attempt(world, node, run, pulse, invocation) : tableUnreadable(world);
  } finally {
    await visible;
    await pulse.end();
  }
  try {
    return await record(world, node, run, executed.outcome, pulse, invocation);
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

/** The attempt is given back: its tool was not called, and that is certain. */
const tableUnreadable = (world: WorkerWorld): Executed => ({
  outcome: { is: "not_started", why: "table unreadable", delayMs: world.limits.backoffBaseMs },
  stillRunning: false,
});

async function attempt(
  world: WorkerWorld,
  node: NodeItem,
  run: RunItem | undefined,
  pulse: Pulse,
  invocation: Invocation,
): Promise<Executed> {
  const notCalled = (outcome: Outcome): Executed => ({ outcome, stillRunning: false });
  const tool = world.tools.get(node.tool);
  if (tool === undefined)
    return notCalled({ is: "not_started", why: "unknown tool", delayMs: world.limits.backoffBaseMs });
  if (run === undefined) return notCalled(calledOff("EXPIRED", "run_expired", "the run of this node has expired"));
  if (run.status !== "RUNNING")
    return notCalled(calledOff("CANCELLED", "run_cancelled", run.cancel_reason ?? "the run was cancelled"));
  const loaded = await loadInput(world.table, node, tool).catch((error: unknown) => {
    world.log.warn("input could not be read now", { node_id: node.node_id, error: String(error) });
    return undefined;
  });
  if (loaded === undefined) return tableUnreadable(world);
  if (loaded.is === "bad") return notCalled({ is: "permanent", error: loaded.error });
  return startIfTimeIsLeft(world, node, tool, loaded.input, pulse, invocation);
}

const calledOff = (status: "CANCELLED" | "EXPIRED", code: string, message: string): Outcome => ({
  is: "called_off",
  status,
  error: { name: "CalledOff", code, message },
});

/** The last look before the tool is called: at the lease by the monotonic clock, at the deadline, at the invocation. */
async function startIfTimeIsLeft(
  world: WorkerWorld,
  node: NodeItem,
  tool: AnyTool,
  input: unknown,
  pulse: Pulse,
  invocation: Invocation,
): Promise<Executed> {
  const { clock, limits } = world;
  const notCalled = (outcome: Outcome): Executed => ({ outcome, stillRunning: false });
  if (node.deadline_at_ms <= clock.nowMs())
    return notCalled(calledOff("EXPIRED", "deadline_passed", "the run's deadline passed before the tool was called"));
  if (pulse.isCancelled())
    return notCalled(calledOff("CANCELLED", "run_cancelled", "the run was cancelled before the tool was called"));
  const leaseLeftMs = pulse.leaseEndsAtMs() - clock.monotonicMs();
  const invocationLeftMs = invocation.remainingMs() - limits.commitBufferMs - limits.abortGraceMs;
  if (pulse.isLost() || leaseLeftMs <= limits.skewMs || invocationLeftMs <= 0) {
    return notCalled({ is: "not_started", why: "too little time left", delayMs: 0 });
  }
  world.count("ToolCalled");
  return execute(world, node, tool, input, pulse, invocation);
}

async function record(
  world: WorkerWorld,
  node: NodeItem,
  run: RunItem | undefined,
  outcome: Outcome,
  pulse: Pulse,
  invocation: Invocation,
): Promise<Verdict> {
  const { clock, chance, limits, log } = world;
  const step = nextStep(outcome, {
    node,
    runCancelled: pulse.isCancelled(),
    nowMs: clock.nowMs(),
    policy: world.tools.get(node.tool)?.retry,
    limits,
    fraction: chance.fraction(),
  });
  const fields = { run_id: node.run_id, node_id: node.node_id, epoch: node.epoch, outcome: outcome.is };
  try {
    const budgetMs = Math.max(0, Math.min(limits.commitBufferMs, invocation.remainingMs() - 500));
    const committed = await commit(world, node, step, run, budgetMs);
    if (committed.is === "committed") {
      world.count(step.is === "end" ? `Node${step.status[0]}${step.status.slice(1).toLowerCase()}` : "NodeAgain");
      log.info("attempt recorded", { ...fields, step: step.is });
      return "acknowledge";
    }
    world.count("CommitRefused");
    log.warn("lease was lost, outcome discarded", { ...fields, movedOn: committed.movedOn });
    // An old receipt can delete the new owner's message, so the message is left unless nothing waits for it.
    return committed.movedOn ? "acknowledge" : "redeliver";
  } catch (error) {
    if (typeof error !== "object" || error === null || Reflect.get(error, "code") !== UNSETTLED) throw error;
    world.count("CommitUnsettled");
    log.error("outcome could not be recorded in time", { ...fields, error: String(error) });
    return "redeliver";
  }
}
