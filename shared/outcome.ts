/** What becomes of a node when an attempt has ended, by what is certain of its effect. */
import type { ErrorRecord } from "./errors.ts";
import type { Limits } from "./limits.ts";
import type { EffectKnown, NodeItem } from "./model.ts";
import { backoffCeilingMs, withJitterMs } from "./retry.ts";
import type { RetryPolicy } from "./tool.ts";
import { hasEarlierOpenAttempt } from "./transitions.ts";

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
  | { readonly is: "called_off"; readonly status: "CANCELLED" | "EXPIRED"; readonly error: ErrorRecord };

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
      readonly notBeforeMs: number;
      readonly certain: boolean;
      readonly counts: boolean;
      readonly error?: ErrorRecord;
    };

export type Situation = {
  readonly node: NodeItem;
  readonly runCancelled: boolean;
  readonly nowMs: number;
  readonly policy: RetryPolicy | undefined;
  readonly limits: Limits;
  /** From 0 to 1: the jitter. */
  readonly fraction: number;
};

export function nextStep(outcome: Outcome, situation: Situation): NextStep {
  const { node, nowMs } = situation;
  const earlierOpen = hasEarlierOpenAttempt(node);
  const effect: EffectKnown = earlierOpen ? "unknown" : "none";
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
      return { is: "again", notBeforeMs: nowMs + outcome.delayMs, certain, counts: false };
    case "retryable":
      return againOrEnd(outcome.error, { effect, certain, retryAfterMs: outcome.retryAfterMs }, situation);
    case "unknown":
      return againOrEnd(outcome.error, { effect: "unknown", certain: false, retryAfterMs: undefined }, situation);
    default:
      return outcome satisfies never;
  }
}

type Known = { readonly effect: EffectKnown; readonly certain: boolean; readonly retryAfterMs: number | undefined };

function againOrEnd(error: ErrorRecord, known: Known, situation: Situation): NextStep {
  const { node, nowMs, runCancelled } = situation;
  const { effect, certain, retryAfterMs } = known;
  if (runCancelled) return { is: "end", status: "CANCELLED", effect, certain, error };
  if (node.deadline_at_ms <= nowMs) return { is: "end", status: "EXPIRED", effect, certain, error };
  if (node.attempts_used >= node.max_attempts) return { is: "end", status: "FAILED", effect, certain, error };
  const ceilingMs = backoffCeilingMs(node.attempts_used, situation.policy, situation.limits);
  const delayMs = retryAfterMs ?? withJitterMs(ceilingMs, situation.fraction);
  return { is: "again", notBeforeMs: nowMs + delayMs, certain, counts: true, error };
}
