/** What a user writes: a tool, its schemas, its effect class. */
import type { z } from "zod";
import { fixed } from "./limits.ts";
import { toolNameSchema } from "./model.ts";
import type { Log } from "./ports.ts";

/**
 * What the runtime may assume when an attempt ended and nobody recorded how.
 * `read_only`: the tool changes nothing, so it is run again.
 * `idempotent`: the tool hands `operationId` to the outside as idempotency key, so it is run again under the same id.
 */
export type EffectClass = (typeof effectClasses)[number];
const effectClasses = ["read_only", "idempotent"] as const;

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

/**
 * Declares a tool; the types of `execute` follow from the schemas.
 * @throws Error that names the field, the rule and what came.
 */
export function defineTool<Input extends z.ZodType, Output extends z.ZodType>(
  tool: Tool<Input, Output>,
): Tool<Input, Output> {
  const fault = toolFault(tool);
  if (fault !== undefined) throw new Error(`defineTool(${JSON.stringify(tool.name)}): ${fault}`);
  return tool;
}

function toolFault(tool: AnyTool): string | undefined {
  const name = toolNameSchema.safeParse(tool.name);
  if (!name.success) return `name ${name.error.issues[0]?.message ?? "is wrong"}, got ${JSON.stringify(tool.name)}`;
  if (!effectClasses.includes(tool.effect))
    return `effect must be one of ${effectClasses.join(", ")}, got ${JSON.stringify(tool.effect)}`;
  const numbers = {
    timeoutMs: tool.timeoutMs,
    "retry.attempts": tool.retry?.attempts,
    "retry.backoffBaseMs": tool.retry?.backoffBaseMs,
    "retry.backoffMaxMs": tool.retry?.backoffMaxMs,
  };
  for (const [field, value] of Object.entries(numbers)) {
    if (value !== undefined && (!Number.isSafeInteger(value) || value < 1))
      return `${field} must be a positive whole number, got ${JSON.stringify(value)}`;
  }
  if (typeof tool.execute !== "function") return `execute must be a function, got ${typeof tool.execute}`;
  return undefined;
}

/**
 * Tools by name.
 * @throws Error where two share a name, or one may run longer than an attempt.
 */
export function toolTable(tools: readonly AnyTool[], attemptLimitMs: number): ReadonlyMap<string, AnyTool> {
  if (tools.length > fixed.tools)
    throw new Error(`tools: at most ${fixed.tools} in one deployment, got ${tools.length}`);
  const table = new Map<string, AnyTool>();
  for (const tool of tools) {
    const fault = toolFault(tool);
    if (fault !== undefined) throw new Error(`tool ${JSON.stringify(tool.name)}: ${fault}`);
    if (table.has(tool.name))
      throw new Error(`tool ${JSON.stringify(tool.name)}: name must be unique, two tools have it`);
    if (tool.timeoutMs !== undefined && tool.timeoutMs > attemptLimitMs) {
      throw new Error(
        `tool ${JSON.stringify(tool.name)}: timeoutMs (${tool.timeoutMs}) must be at most limits.attemptLimitMs (${attemptLimitMs})`,
      );
    }
    table.set(tool.name, tool);
  }
  return table;
}
