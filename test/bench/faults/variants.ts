/** What is compared, and under which times: one set of numbers for all of them. */
import type { Limits } from "../../../shared/limits.ts";

/**
 * Leasehold's times in this bench. The peers have the same function timeout and the same visibility, which is the shortest that
 * the timeout allows: AWS advises six times the timeout (services-sqs-configure.html), which would make them wait longer.
 */
export const limits = {
  leaseMs: 3_000,
  heartbeatMs: 1_000,
  skewMs: 500,
  attemptLimitMs: 8_000,
  reconcileTimeoutMs: 8_000,
  abortGraceMs: 1_000,
  commitBufferMs: 3_000,
  functionTimeoutMs: 15_000,
  plainFunctionTimeoutMs: 15_000,
  queueVisibilityMs: 16_000,
} as const satisfies Partial<Limits>;

export const classes = ["idempotent", "reconcilable", "at_most_once"] as const;
export type BenchedClass = (typeof classes)[number];

/** Names of the peers' functions. */
export const peers = { plain: "Plain", plainKeyed: "PlainKeyed", powertools: "Powertools" } as const;

export const stackOf = {
  peers: "BenchFaultsPeers",
  idempotent: "BenchFaultsIdempotent",
  reconcilable: "BenchFaultsReconcilable",
  at_most_once: "BenchFaultsAtMostOnce",
} as const;

export const killPoints = [
  "nothing killed",
  "before the first call",
  "after buy acted",
  "after save acted",
  "after mail acted",
  "after all, before the acknowledgement",
] as const;
export type KillPoint = (typeof killPoints)[number];

/** The call after whose effect, and before whose answer, the caller dies. */
export const pathOf: Readonly<Partial<Record<KillPoint, string>>> = {
  "after buy acted": "/vouchers",
  "after save acted": "/saved-vouchers",
  "after mail acted": "/mails",
};
