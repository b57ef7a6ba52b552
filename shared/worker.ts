/** One message: look at the state, own the node or say why not. */
import { dependentsOf } from "./beside.ts";
import { type ClaimRefusal, endingWithoutAttempt, explainRefusedClaim } from "./claim-refused.ts";
import { keptMs, type Limits } from "./limits.ts";
import { dispatchSchema, type NodeItem, nodeItemSchema, readItem } from "./model.ts";
import { own } from "./own.ts";
import type { Dispatch } from "./ports.ts";
import { settle } from "./settle.ts";
import { type AnyTool, isCareful } from "./tool.ts";
import { type ClaimRequest, claim, claimToReconcile, endNode, enterDoubt, noRecord } from "./transitions.ts";
import type { Delivery, Invocation, Verdict, WorkerWorld } from "./worker-world.ts";
import type { Condition, Item, Write } from "./write.ts";

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
  if (invocation.remainingMs() < keptMs(limits)) return giveBack(world, delivery);
  const trial: Trial = {
    dispatch: parsed.dispatch,
    delivery,
    invocation,
    claimedAtMs: world.clock.monotonicMs(),
    request: requestOf(world, parsed.dispatch, delivery, invocation),
  };
  const write = claim(trial.request);
  const answer = await settle(world, limits.commitBufferMs, () => world.table.write(write));
  if (answer.is === "refused") return refused(world, trial, answer.old);
  return own(world, { ...trial, node: readItem(nodeItemSchema, answer.item), purpose: "execute" });
}

/**
 * A message that has waited for others of its invocation. What these took is not to be missing from its own attempt: one that
 * is cut short is used up, or leaves a doubt. Which tool it is for is not known yet, so the longest one counts.
 */
export async function handleLaterDelivery(
  world: WorkerWorld,
  delivery: Delivery,
  invocation: Invocation,
): Promise<Verdict> {
  const { limits, tools } = world;
  const longestMs = Math.max(0, ...[...tools.values()].map((tool) => longestCallMs(tool, limits)));
  if (invocation.remainingMs() < longestMs + keptMs(limits)) return giveBack(world, delivery);
  return handleDelivery(world, delivery, invocation);
}

const longestCallMs = ({ timeoutMs, effect, reconcileRetry }: AnyTool, limits: Limits): number =>
  Math.max(
    timeoutMs ?? limits.attemptLimitMs,
    effect === "reconcilable" ? (reconcileRetry?.timeoutMs ?? limits.reconcileTimeoutMs) : 0,
  );

/** Untouched, and for another invocation at once: the queue's own visibility is that of a whole one. */
async function giveBack(world: WorkerWorld, delivery: Delivery): Promise<Verdict> {
  await comeBackIn(world, delivery, 0);
  return "redeliver";
}

/** One message that tries to own its node. */
type Trial = {
  readonly dispatch: Dispatch;
  readonly delivery: Delivery;
  readonly invocation: Invocation;
  readonly claimedAtMs: number;
  readonly request: ClaimRequest;
};

function requestOf(world: WorkerWorld, dispatch: Dispatch, delivery: Delivery, invocation: Invocation): ClaimRequest {
  const tools = [...world.tools.values()];
  return {
    runId: dispatch.run_id,
    nodeId: dispatch.node_id,
    dispatchId: dispatch.dispatch_id,
    claimId: world.chance.id(),
    messageId: delivery.messageId,
    nowMs: world.clock.nowMs(),
    leaseMs: world.limits.leaseMs,
    skewMs: world.limits.skewMs,
    remainingMs: invocation.remainingMs(),
    carefree: tools.filter((tool) => !isCareful(tool.effect)).map((tool) => tool.name),
    careful: tools.filter((tool) => isCareful(tool.effect)).map((tool) => tool.name),
  };
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
  return {
    ok: false,
    reason: `${issue?.path.join(".") || "body"}: ${issue?.message ?? "is no dispatch message"}`,
  };
}

async function refused(world: WorkerWorld, trial: Trial, old: Item | undefined): Promise<Verdict> {
  const { dispatch, delivery, request } = trial;
  if (old === undefined) {
    const reason = `no node ${JSON.stringify(dispatch.node_id)} in run ${JSON.stringify(dispatch.run_id)}, or the run has expired`;
    await world.queue.reject({ body: delivery.body, source: "dispatch", reason });
    world.count("MessageRejected");
    return "acknowledge";
  }
  const node = readItem(nodeItemSchema, old);
  const nowMs = world.clock.nowMs();
  const { limits, tools } = world;
  const { claimId } = request;
  const { dispatch_id: dispatchId } = dispatch;
  const why = explainRefusedClaim({ node, dispatchId, claimId, messageId: delivery.messageId, nowMs, limits, tools });
  switch (why.is) {
    case "mine":
      return own(world, { ...trial, node, purpose: "execute" });
    case "superfluous":
      world.count("MessageSuperfluous");
      world.log.debug("message is superfluous", { ...dispatch, why: why.why });
      return "acknowledge";
    case "wait":
      await comeBackIn(world, delivery, why.untilMs - nowMs);
      return "redeliver";
    case "end":
      return endAsFound(world, node, why, nowMs);
    case "reconcile":
      return ownToReconcile(world, trial, node, why.guard);
    case "doubt":
      world.count("NodeInDoubt");
      return doubtAsFound(world, enterDoubt(node, why.guard, why.why, noRecord, nowMs));
    case "unknown_tool":
      world.count("UnknownTool");
      // The node's pool and the worker's own, which may have lost the tool to another one, tell where it was looked for.
      world.log.error("no tool of that name is deployed here", { ...dispatch, tool: node.tool, pool: node.pool });
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

/** A second claim, for which the first one's refusal brought what it needs. Refused: another was faster, and its message comes back. */
async function ownToReconcile(
  world: WorkerWorld,
  trial: Trial,
  node: NodeItem,
  guard: readonly Condition[],
): Promise<Verdict> {
  const claimedAtMs = world.clock.monotonicMs();
  const write = claimToReconcile(node, { ...trial.request, nowMs: world.clock.nowMs() }, guard);
  const answer = await settle(world, world.limits.commitBufferMs, () => world.table.write(write));
  const found = answer.is === "applied" ? answer.item : answer.old;
  const claimed = found === undefined ? undefined : readItem(nodeItemSchema, found);
  const isMine = claimed?.status === "RUNNING" && claimed.claim_id === trial.request.claimId;
  if (claimed === undefined || !isMine) return "redeliver";
  return own(world, { ...trial, claimedAtMs, node: claimed, purpose: "reconcile" });
}

async function endAsFound(
  world: WorkerWorld,
  node: NodeItem,
  over: Extract<ClaimRefusal, { is: "end" }>,
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
  return applyAsFound(world, writes);
}

/** The node is in doubt though its run is gone and cannot be held: else its message would come back for ever. */
async function doubtAsFound(world: WorkerWorld, [own, ...others]: readonly Write[]): Promise<Verdict> {
  if (own === undefined) return "acknowledge";
  const { commitBufferMs } = world.limits;
  const answer = await settle(world, commitBufferMs, () => world.table.transact([own, ...others]));
  if (answer.is === "applied") return "acknowledge";
  return answer.refusals[0] === null ? applyAsFound(world, [own]) : "redeliver";
}

/** Refused: it is not as it was found any more, and the next delivery looks again. */
async function applyAsFound(world: WorkerWorld, writes: readonly Write[]): Promise<Verdict> {
  const answer = await settle(world, world.limits.commitBufferMs, () => world.table.transact(writes));
  return answer.is === "applied" ? "acknowledge" : "redeliver";
}
