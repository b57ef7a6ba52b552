/** When a failed attempt is tried again. The curve stands apart from the jitter, so that each can be tested exactly. */
import type { Limits } from "./limits.ts";
import type { RetryPolicy } from "./tool.ts";

/** Longest delay before the attempt that follows `attemptsUsed` attempts: base, doubled each time, up to the maximum. */
export function backoffCeilingMs(attemptsUsed: number, policy: RetryPolicy | undefined, limits: Limits): number {
  const base = policy?.backoffBaseMs ?? limits.backoffBaseMs;
  const max = Math.max(base, policy?.backoffMaxMs ?? limits.backoffMaxMs);
  return Math.min(max, base * 2 ** Math.min(attemptsUsed - 1, 40));
}

/** Full jitter: anywhere from nothing to the ceiling, so that what failed together does not come back together. */
export const withJitterMs = (ceilingMs: number, fraction: number): number => Math.floor(ceilingMs * fraction);
