/** Why a claim was refused, from the node as it was found: what to do with the message. */
import type { ErrorRecord } from "./errors.ts";
import type { Limits } from "./limits.ts";
import { isTerminal, type NodeItem } from "./model.ts";
import { effectSoFar } from "./outcome.ts";
import { type AnyTool, isCareful } from "./tool.ts";
import type { Ending } from "./transitions.ts";
import { hasOpenAttempt } from "./transitions.ts";
import type { Condition } from "./write.ts";

export type ClaimRefusal =
  /** The claim was applied and its answer lost: go on as its owner. */
  | { readonly is: "mine" }
  /** The message is superfluous: acknowledge it. */
  | { readonly is: "superfluous"; readonly why: string }
  /** Not yet: let the message come back then. */
  | { readonly is: "wait"; readonly untilMs: number; readonly why: string }
  /** Nobody may run it any more: end it, on condition that it still is as it was found. */
  | {
      readonly is: "end";
      readonly status: "EXPIRED" | "FAILED";
      readonly guard: readonly Condition[];
      readonly why: string;
    }
  /** An attempt may have had its effect: claim the node to look that up. */
  | { readonly is: "reconcile"; readonly guard: readonly Condition[] }
  /** An attempt may have had its effect, and nothing can tell: the node waits for someone who knows. */
  | { readonly is: "doubt"; readonly guard: readonly Condition[]; readonly why: string }
  /** No tool of that name is deployed: no attempt is used. */
  | { readonly is: "unknown_tool" };

export type RefusedClaim = {
  readonly node: NodeItem;
  readonly dispatchId: string;
  readonly claimId: string;
  readonly messageId: string;
  readonly nowMs: number;
  readonly limits: Limits;
  readonly tools: ReadonlyMap<string, AnyTool>;
};

export function explainRefusedClaim(refused: RefusedClaim): ClaimRefusal {
  const { node, dispatchId, claimId } = refused;
  if (node.status === "RUNNING" && node.claim_id === claimId) return { is: "mine" };
  if (isTerminal(node.status)) return { is: "superfluous", why: "terminal" };
  if (node.dispatch_id !== dispatchId) return { is: "superfluous", why: "stale dispatch" };
  switch (node.status) {
    case "READY":
      return readyRefused(refused);
    case "RUNNING":
      return runningRefused(refused);
    // Not this message's business: whoever moves the node out of these sends a message of its own.
    case "PENDING":
    case "WAITING":
    case "IN_DOUBT":
      return { is: "superfluous", why: node.status };
    case "SUCCEEDED":
    case "FAILED":
    case "CANCELLED":
    case "EXPIRED":
    case "SKIPPED":
      return { is: "superfluous", why: "terminal" };
    default:
      return node.status satisfies never;
  }
}

function readyRefused(refused: RefusedClaim): ClaimRefusal {
  const { node, nowMs } = refused;
  const dueAtMs = node.not_before_ms ?? 0;
  if (isInTheDark(refused))
    return dueAtMs > nowMs ? { is: "wait", untilMs: dueAtMs, why: "not due" } : lookInto(refused);
  const end = endIfOver(refused);
  if (end !== undefined) return end;
  if (dueAtMs > nowMs) return { is: "wait", untilMs: Math.min(dueAtMs, node.deadline_at_ms), why: "not due" };
  return notRunnable(refused);
}

function runningRefused(refused: RefusedClaim): ClaimRefusal {
  const { node, nowMs, limits, messageId } = refused;
  const takeOverAtMs = (node.lease_expires_at_ms ?? 0) + limits.skewMs;
  if (takeOverAtMs >= nowMs) {
    // Another message's owner is at work, and that message comes back if it dies; this one's own is not lost either.
    return node.message_id === messageId
      ? { is: "wait", untilMs: takeOverAtMs + 1, why: "live lease" }
      : { is: "superfluous", why: "live lease of another message" };
  }
  if (!isInTheDark(refused)) return endIfOver(refused) ?? notRunnable(refused);
  // The former owner may live on without its lease and still act or commit: only what it did before it died can be looked up.
  const deadAtMs = node.owner_dead_at_ms ?? 0;
  return deadAtMs >= nowMs ? { is: "wait", untilMs: deadAtMs + 1, why: "owner not surely dead" } : lookInto(refused);
}

/**
 * Whether an attempt of a careful tool ended without a recorded outcome. A tool that is not deployed any more may be one:
 * its node may not be ended either, but while it could still run it waits for its tool.
 */
const isInTheDark = (refused: RefusedClaim): boolean => {
  const { node, tools } = refused;
  if (!hasOpenAttempt(node)) return false;
  const tool = tools.get(node.tool);
  return tool === undefined ? endIfOver(refused) !== undefined : isCareful(tool.effect);
};

/** Neither the attempts left nor the deadline count here: what may have happened is to be found out in any case. */
function lookInto({ node, tools, limits }: RefusedClaim): ClaimRefusal {
  const tool = tools.get(node.tool);
  const guard = asFound(node);
  if (tool === undefined) {
    return {
      is: "doubt",
      guard,
      why: "the attempt ended without a recorded outcome, and its tool is not deployed any more",
    };
  }
  if (tool.effect !== "reconcilable") {
    return {
      is: "doubt",
      guard,
      why: "the attempt ended without a recorded outcome, and the tool must not be run twice",
    };
  }
  const budget = tool.reconcileRetry?.attempts ?? limits.reconcileAttempts;
  if ((node.reconciles_used ?? 0) < budget) return { is: "reconcile", guard };
  return { is: "doubt", guard, why: `reconcile could not tell in ${budget} calls` };
}

/** The clock that refused the claim may be past what it saw: then the message simply comes back. */
function notRunnable({ node, tools, nowMs }: RefusedClaim): ClaimRefusal {
  return tools.has(node.tool) ? { is: "wait", untilMs: nowMs, why: "look again" } : { is: "unknown_tool" };
}

function endIfOver({ node, nowMs }: RefusedClaim): ClaimRefusal | undefined {
  const guard = asFound(node);
  if (node.deadline_at_ms <= nowMs) return { is: "end", status: "EXPIRED", guard, why: "deadline passed" };
  if (node.attempts_used >= node.max_attempts) return { is: "end", status: "FAILED", guard, why: "attempts used up" };
  return undefined;
}

/** Status, epoch and lease end as read: a take-over or a heartbeat in between refuses the ending. */
const asFound = (node: NodeItem): readonly Condition[] => [
  { attr: "status", is: "equal", value: node.status },
  { attr: "epoch", is: "equal", value: node.epoch },
  ...(node.lease_expires_at_ms === undefined
    ? []
    : [{ attr: "lease_expires_at_ms", is: "equal", value: node.lease_expires_at_ms } as const]),
];

/** An ending without a further attempt: what is open stays unknown, and is never dressed up as a failure (I14). */
export const endingWithoutAttempt = (node: NodeItem, status: Ending["status"], error: ErrorRecord): Ending => ({
  status,
  effect: effectSoFar(hasOpenAttempt(node), node.part_done === true),
  certain: !hasOpenAttempt(node),
  record: { set: { error: JSON.stringify(error) }, remove: ["error_epoch"] },
});
