import type { z } from "zod";
import type { Log } from "./ports.ts";

/**
 * What the runtime may assume when an attempt ended and nobody recorded how.
 * `read_only`: the tool changes nothing, so it is run again.
 * `idempotent`: the tool hands `operationId` to the outside as idempotency key, so it is run again under the same id.
 */
export type EffectClass = "read_only" | "idempotent";

export type RetryPolicy = {
  /** Attempts in all, the first included. @default limits.attempts */
  readonly attempts?: number;
  /** First delay; each later one doubles, with full jitter. @default limits.backoffBaseMs */
  readonly backoffBaseMs?: number;
  /** @default limits.backoffMaxMs */
  readonly backoffMaxMs?: number;
};

/** What a tool is given besides its input. */
export type ToolContext = {
  /** The same for every attempt of this node, at most 64 ASCII characters: hand it on as idempotency key. */
  readonly operationId: string;
  /** Rises with every attempt: a store that remembers the highest it saw can refuse a former owner. */
  readonly fencingToken: number;
  /** 1 for the first attempt. */
  readonly attempt: number;
  readonly runId: string;
  readonly nodeId: string;
  /** Wall-clock time at which the run's deadline passes, in ms since the epoch. */
  readonly deadlineAtMs: number;
  /** Aborts when the lease is lost, the run is cancelled or past its deadline, or the attempt's time is over. */
  readonly signal: AbortSignal;
  readonly log: Log;
};

export type Tool<Input extends z.ZodType = z.ZodType, Output extends z.ZodType = z.ZodType> = {
  readonly name: string;
  readonly input: Input;
  readonly output: Output;
  readonly effect: EffectClass;
  readonly retry?: RetryPolicy;
  /** Longest time for one attempt, at most limits.attemptLimitMs. @default limits.attemptLimitMs */
  readonly timeoutMs?: number;
  execute(input: z.output<Input>, context: ToolContext): Promise<z.input<Output>>;
};

/** A tool of any schema, as the runtime holds it. */
export type AnyTool = {
  readonly name: string;
  readonly input: z.ZodType;
  readonly output: z.ZodType;
  readonly effect: EffectClass;
  readonly retry?: RetryPolicy;
  readonly timeoutMs?: number;
  execute(input: unknown, context: ToolContext): Promise<unknown>;
};
