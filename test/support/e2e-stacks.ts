/** The stacks that the end-to-end tests share, and what each is for. One deploy makes them all. */
import type { Limits } from "../../shared/limits.ts";

/** Short, so that a test sees a lease end, and as far from each other as the relations in limits.ts ask for. */
export const shortLimits = {
  leaseMs: 3_000,
  heartbeatMs: 1_000,
  skewMs: 500,
  attemptLimitMs: 10_000,
  abortGraceMs: 1_000,
  commitBufferMs: 2_000,
  functionTimeoutMs: 15_000,
  plainFunctionTimeoutMs: 15_000,
  queueVisibilityMs: 16_000,
  backoffBaseMs: 100,
  backoffMaxMs: 1_000,
  scanEveryMs: 1_000,
  scanIdleMs: 5_000,
  strandedMs: 1_000,
} as const satisfies Partial<Limits>;

/** A killed worker's message comes back within so long (design 8). */
export const comesBackWithinMs = shortLimits.leaseMs + 5_000;

export type FunctionName = "commands" | "relay" | "worker" | "scanner";

export type StackPlan = {
  /** Functions whose calls go through a fault proxy of their own. */
  readonly proxied: readonly FunctionName[];
  /** The worker function is `worker-entry.ts`, which asks a gate before it returns. */
  readonly gated?: true;
  /** Beside the main worker there is the pool `heavy`, for the tools of `tools/heavy.ts`. */
  readonly pooled?: true;
  readonly disabled?: { readonly relayMapping?: boolean; readonly scanRule?: boolean };
};

const noRule = { scanRule: true };

/** The scanner's rule is off wherever a test must show that the queue, or the relay, did it alone (I8). */
export const stackPlans = {
  main: { proxied: ["commands", "relay", "worker"], pooled: true, disabled: noRule },
  gated: { proxied: ["worker"], gated: true, disabled: noRule },
  /** Its relay never runs: nothing is enqueued but by a scanner that the test invokes. */
  unrelayed: { proxied: [], disabled: { relayMapping: true, ...noRule } },
  /** The same, but the rule invokes the scanner and the test does not. */
  ruled: { proxied: [], disabled: { relayMapping: true } },
} as const satisfies Record<string, StackPlan>;

export type StackName = keyof typeof stackPlans;
export const stackNames = Object.keys(stackPlans) as readonly StackName[];

/** Proxies, provider and gate live in the test file's process, but the functions are told of them when they are deployed. */
export type Ports = {
  readonly provider: number;
  readonly gate: number;
  readonly proxies: Readonly<Record<StackName, Readonly<Partial<Record<FunctionName, number>>>>>;
};

/** What the set-up hands to the test files. */
export type Deployed = {
  readonly endpoint: string;
  readonly ports: Ports;
  /** What each stack is called in the local AWS. */
  readonly stackNames: Readonly<Record<StackName, string>>;
  readonly outputs: Readonly<Record<StackName, Readonly<Record<string, string>>>>;
};
