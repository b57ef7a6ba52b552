/** What becomes of a node when an attempt has ended, by what is certain of its effect. */
import type { ErrorRecord } from "./errors.ts";
import type { Limits } from "./limits.ts";
import type { EffectKnown, NodeItem } from "./model.ts";
import { backoffCeilingMs, withJitterMs } from "./retry.ts";
import type { AnyTool, RetryPolicy } from "./tool.ts";
import { hasEarlierOpenAttempt, type Requeue } from "./transitions.ts";

export type Outcome =
  /** `output` is JSON text. */
  | { readonly is: "succeeded"; readonly output: string }
  /** The tool returned, but not what it promises: its effect is done, and it is never run again. */
  | { readonly is: "bad_output"; readonly output: string | undefined; readonly error: ErrorRecord }
  /** No effect, and again may help. */
  | { readonly is: "retryable"; readonly error: ErrorRecord; readonly retryAfterMs: number | undefined }
  /** No effect, and again cannot help. */
  | { readonly is: "permanent"; readonly error: ErrorRecord }
  /** The tool may have acted, nobody knows. */
  | { readonly is: "unknown"; readonly error: ErrorRecord }
  /** The tool was not called, and the node may go on elsewhere. */
  | { readonly is: "not_started"; readonly why: string; readonly delayMs: number }
  /** The tool was not called, and nothing may start any more. */
  | { readonly is: "called_off"; readonly status: "CANCELLED" | "EXPIRED"; readonly error: ErrorRecord }
  /** The tool was not called: an earlier attempt is open, and what would make a repeat harmless has run out. */
  | { readonly is: "too_late"; readonly why: string }
  /** A step asks what a former owner did, who may be alive still: to be asked once it is surely dead. */
  | { readonly is: "too_early" }
  /** Reconcile says that no attempt so far has had its effect, nor will. */
  | { readonly is: "found_not_done" }
  /** Reconcile could not tell. */
  | { readonly is: "found_nothing"; readonly error: ErrorRecord };

export type NextStep =
  | {
      readonly is: "end";
      readonly status: "SUCCEEDED" | "FAILED" | "CANCELLED" | "EXPIRED";
      readonly effect: EffectKnown;
      readonly certain: boolean;
      readonly output?: string | undefined;
      readonly error?: ErrorRecord;
    }
  | {
      readonly is: "again";
      readonly name: Requeue["name"];
      readonly notBeforeMs: number;
      readonly certain: boolean;
      readonly counts: boolean;
      readonly error?: ErrorRecord;
    }
  | { readonly is: "doubt"; readonly why: string; readonly error?: ErrorRecord };

export type Situation = {
  readonly node: NodeItem;
  /** Missing where no tool of that name is deployed. */
  readonly tool: AnyTool | undefined;
  readonly runCancelled: boolean;
  /** A step of this attempt that changes something has been remembered. */
  readonly partDone: boolean;
  readonly nowMs: number;
  readonly limits: Limits;
  /** From 0 to 1: the jitter. */
  readonly fraction: number;
};

export function nextStep(outcome: Outcome, situation: Situation): NextStep {
  const { node, nowMs } = situation;
  const earlierOpen = hasEarlierOpenAttempt(node);
  const effect = effectSoFar(earlierOpen, situation.partDone || node.part_done === true);
  const certain = !earlierOpen;
  switch (outcome.is) {
    case "succeeded":
      return { is: "end", status: "SUCCEEDED", effect: "done", certain: true, output: outcome.output };
    case "bad_output":
      return {
        is: "end",
        status: "FAILED",
        effect: "done",
        certain: true,
        output: outcome.output,
        error: outcome.error,
      };
    case "permanent":
      return { is: "end", status: "FAILED", effect, certain, error: outcome.error };
    case "called_off":
      return { is: "end", status: outcome.status, effect, certain, error: outcome.error };
    case "not_started":
      return { is: "again", name: "put_back", notBeforeMs: nowMs + outcome.delayMs, certain, counts: false };
    case "too_late":
      return { is: "doubt", why: outcome.why };
    case "too_early":
      // The tool's own code has run up to that step, so nothing is certain; the attempt is given back all the same.
      return {
        is: "again",
        name: "await_owner",
        notBeforeMs: node.owner_dead_at_ms ?? nowMs,
        certain: false,
        counts: false,
      };
    case "retryable":
      return againOrEnd(outcome.error, { effect, certain, retryAfterMs: outcome.retryAfterMs }, situation);
    case "unknown":
      return afterUnknown(outcome.error, situation);
    case "found_not_done":
      // Whether it may run again, by attempts, deadline and cancel, is for the claim to say, as always.
      return { is: "again", name: "not_done", notBeforeMs: nowMs, certain: true, counts: true };
    case "found_nothing":
      return reconcileLater(outcome.error, situation);
    default:
      return outcome satisfies never;
  }
}

/** What is known when the last attempt itself surely had no effect; an effect of some steps is an effect. */
export const effectSoFar = (earlierOpen: boolean, partDone: boolean): EffectKnown => {
  if (earlierOpen) return "unknown";
  return partDone ? "done" : "none";
};

function afterUnknown(error: ErrorRecord, situation: Situation): NextStep {
  const { node, tool, nowMs } = situation;
  // No tool was there to be called, so this is nobody's outcome; as the mildest class it is tried again.
  if (tool === undefined)
    return againOrEnd(error, { effect: "unknown", certain: false, retryAfterMs: undefined }, situation);
  switch (tool.effect) {
    case "read_only":
    case "idempotent":
      return againOrEnd(error, { effect: "unknown", certain: false, retryAfterMs: undefined }, situation);
    case "at_most_once":
      return { is: "doubt", why: "the tool failed and did not say that nothing happened", error };
    case "reconcilable": {
      // Looked up once this invocation is surely over: what it still has on its way could make a "not done" untrue.
      const notBeforeMs = Math.max(
        nowMs + delayMs(tool.retry, node.attempts_used, situation),
        node.owner_dead_at_ms ?? 0,
      );
      return { is: "again", name: "retry", notBeforeMs, certain: false, counts: true, error };
    }
    default:
      return tool.effect satisfies never;
  }
}

function reconcileLater(error: ErrorRecord, situation: Situation): NextStep {
  const { node, tool, nowMs, limits } = situation;
  const used = node.reconciles_used ?? 0;
  const budget = tool?.reconcileRetry?.attempts ?? limits.reconcileAttempts;
  if (used >= budget) return { is: "doubt", why: `reconcile could not tell in ${used} calls`, error };
  const notBeforeMs = nowMs + delayMs(tool?.reconcileRetry, used, situation);
  return { is: "again", name: "reconcile_later", notBeforeMs, certain: false, counts: true, error };
}

const delayMs = (policy: RetryPolicy | undefined, used: number, { limits, fraction }: Situation): number =>
  withJitterMs(backoffCeilingMs(Math.max(1, used), policy, limits), fraction);

type Known = { readonly effect: EffectKnown; readonly certain: boolean; readonly retryAfterMs: number | undefined };

function againOrEnd(error: ErrorRecord, known: Known, situation: Situation): NextStep {
  const { node, tool, nowMs, runCancelled } = situation;
  const { effect, certain, retryAfterMs } = known;
  if (runCancelled) return { is: "end", status: "CANCELLED", effect, certain, error };
  if (node.deadline_at_ms <= nowMs) return { is: "end", status: "EXPIRED", effect, certain, error };
  if (node.attempts_used >= node.max_attempts) return { is: "end", status: "FAILED", effect, certain, error };
  const notBeforeMs = nowMs + (retryAfterMs ?? delayMs(tool?.retry, node.attempts_used, situation));
  return { is: "again", name: "retry", notBeforeMs, certain, counts: true, error };
}
