/** What a user writes: a tool, its schemas, and the kind of effect it has. */
import type { z } from "zod";
import { fixed } from "./limits.ts";
import { poolNameSchema, toolNameSchema } from "./names.ts";
import type { Bounds, BoundsOf } from "./pools.ts";
import type { Log } from "./ports.ts";

const effectClasses = ["read_only", "idempotent", "reconcilable", "at_most_once"] as const;

/**
 * What the runtime does when an attempt ended and nobody recorded how.
 * `read_only`: the tool changes nothing, so it is run again.
 * `idempotent`: it hands `operationId` to the outside as idempotency key, so it is run again under the same id for as long as keys live.
 * `reconcilable`: the operation can be looked up, so `reconcile` is asked first.
 * `at_most_once`: nothing can be known, so the node waits IN_DOUBT until a person or a program resolves it.
 */
export type EffectClass = (typeof effectClasses)[number];

const leaseKinds = ["renewed", "invocation"] as const;
export type LeaseKind = (typeof leaseKinds)[number];

export type RetryPolicy = {
  /** Attempts in all, the first included. @default limits.attempts */
  readonly attempts?: number;
  /** First delay; each later one doubles, with full jitter. @default limits.backoffBaseMs */
  readonly backoffBaseMs?: number;
  /** @default limits.backoffMaxMs */
  readonly backoffMaxMs?: number;
};

/** `reconcile` has a budget of its own and uses up no attempt. */
export type ReconcilePolicy = RetryPolicy & {
  /** Longest time for one call. @default limits.reconcileTimeoutMs */
  readonly timeoutMs?: number;
};

/** What the code of one step is given. */
export type StepContext = {
  /** The same for every attempt of this step, and no other step's: hand it on as idempotency key. */
  readonly operationId: string;
  readonly fencingToken: number;
  readonly signal: AbortSignal;
};

export type StepOptions<Value> = {
  /** What the runtime does when the step may have run and its result is not remembered. @default "idempotent" */
  readonly effect?: EffectClass;
  /** For effect reconcilable, and for no other: looks the step's operation up. */
  readonly reconcile?: (context: StepContext) => Promise<Reconciled<Value>>;
};

/**
 * Runs a step once and remembers its result: from then on, in this attempt and in later ones, the result is given back and
 * the code is not run. A step costs one write of a single item. Names are unique in a node, and a later attempt asks for
 * the same names in the same order; steps may run side by side. The caller always receives the value as it comes back from
 * JSON, also the first time.
 * @throws Error `step_repeated`, `step_reordered`, `step_value`, `step_name`; what the step's own code throws; and one that
 * the tool must let through when the step is in doubt or the lease is lost.
 */
export type RunStep = <Value>(
  name: string,
  run: (context: StepContext) => Promise<Value>,
  options?: StepOptions<Value>,
) => Promise<Value>;

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
  /** Remembered results inside this node. Not for `reconcile`. */
  readonly step: RunStep;
};

/** What `reconcile` found out: the effect happened and brought this output, it did not and never will, or it cannot be said now. */
export type Reconciled<Output> =
  | { readonly is: "done"; readonly output: Output }
  | { readonly is: "not_done" }
  | { readonly is: "unknown" };

type ToolBase<Input extends z.ZodType, Output extends z.ZodType> = {
  readonly name: string;
  readonly input: Input;
  readonly output: Output;
  /**
   * The pool of workers that runs it, one that the deployment has; 1 to 40 of A-Z a-z 0-9 -.
   * @default the main worker
   */
  readonly pool?: string;
  readonly retry?: RetryPolicy;
  /** Longest time for one attempt, at most its pool's limits.attemptLimitMs. @default limits.attemptLimitMs */
  readonly timeoutMs?: number;
  /**
   * `renewed`: short, and extended by heartbeats while the tool runs. `invocation`: held to the end of the invocation without
   * heartbeats, for a tool that blocks the event loop; a worker that dies is then followed only when its invocation would be over.
   * @default "renewed"
   */
  readonly lease?: LeaseKind;
  execute(input: z.output<Input>, context: ToolContext): Promise<z.input<Output>>;
};

type ToolEffect<Input extends z.ZodType, Output extends z.ZodType> =
  | { readonly effect: "read_only" }
  | {
      readonly effect: "idempotent";
      /** How long the provider remembers a key. @default limits.keyLifetimeMs */
      readonly keyLifetimeMs?: number;
    }
  | {
      readonly effect: "reconcilable";
      /** Looks the operation up by `operationId`. It is called only once the former owner is surely dead. */
      reconcile(input: z.output<Input>, context: ToolContext): Promise<Reconciled<z.input<Output>>>;
      readonly reconcileRetry?: ReconcilePolicy;
    }
  | { readonly effect: "at_most_once" };

export type Tool<Input extends z.ZodType = z.ZodType, Output extends z.ZodType = z.ZodType> = ToolBase<Input, Output> &
  ToolEffect<Input, Output>;

/** A tool of any schema, as the runtime holds it. */
export type AnyTool = {
  readonly name: string;
  readonly input: z.ZodType;
  readonly output: z.ZodType;
  readonly effect: EffectClass;
  readonly pool?: string;
  readonly retry?: RetryPolicy;
  readonly timeoutMs?: number;
  readonly keyLifetimeMs?: number;
  readonly reconcileRetry?: ReconcilePolicy;
  readonly lease?: LeaseKind;
  execute(input: unknown, context: ToolContext): Promise<unknown>;
  reconcile?(input: unknown, context: ToolContext): Promise<Reconciled<unknown>>;
};

/** After an open attempt nothing may be run blindly: the claim leaves such a node alone, and its refusal is explained. */
export const isCareful = (effect: EffectClass): boolean => effect === "reconcilable" || effect === "at_most_once";

/**
 * Declares a tool; the types of `execute` follow from the schemas.
 * @throws Error that names the field, the rule and what came.
 */
export function defineTool<Input extends z.ZodType, Output extends z.ZodType>(
  tool: Tool<Input, Output>,
): Tool<Input, Output> {
  const fault = toolFault(tool as AnyTool);
  if (fault !== undefined) throw new Error(`defineTool(${JSON.stringify(tool.name)}): ${fault}`);
  return tool;
}

function toolFault(tool: AnyTool): string | undefined {
  const name = toolNameSchema.safeParse(tool.name);
  if (!name.success) return `name ${name.error.issues[0]?.message ?? "is wrong"}, got ${JSON.stringify(tool.name)}`;
  if (tool.pool !== undefined) {
    const pool = poolNameSchema.safeParse(tool.pool);
    if (!pool.success) return `pool ${pool.error.issues[0]?.message ?? "is wrong"}, got ${JSON.stringify(tool.pool)}`;
  }
  if (!effectClasses.includes(tool.effect)) {
    return `effect must be one of ${effectClasses.join(", ")}, got ${JSON.stringify(tool.effect)}`;
  }
  const numbers = {
    timeoutMs: tool.timeoutMs,
    keyLifetimeMs: tool.keyLifetimeMs,
    "retry.attempts": tool.retry?.attempts,
    "retry.backoffBaseMs": tool.retry?.backoffBaseMs,
    "retry.backoffMaxMs": tool.retry?.backoffMaxMs,
    "reconcileRetry.attempts": tool.reconcileRetry?.attempts,
    "reconcileRetry.timeoutMs": tool.reconcileRetry?.timeoutMs,
    "reconcileRetry.backoffBaseMs": tool.reconcileRetry?.backoffBaseMs,
    "reconcileRetry.backoffMaxMs": tool.reconcileRetry?.backoffMaxMs,
  };
  for (const [field, value] of Object.entries(numbers)) {
    if (value !== undefined && (!Number.isSafeInteger(value) || value < 1)) {
      return `${field} must be a positive whole number, got ${JSON.stringify(value)}`;
    }
  }
  if (tool.lease !== undefined && !leaseKinds.includes(tool.lease)) {
    return `lease must be one of ${leaseKinds.join(", ")}, got ${JSON.stringify(tool.lease)}`;
  }
  if (typeof tool.execute !== "function") return `execute must be a function, got ${typeof tool.execute}`;
  return effectFault(tool);
}

/** What a class needs, and what only another class could use and would silently do nothing here. */
function effectFault(tool: AnyTool): string | undefined {
  const isReconcilable = tool.effect === "reconcilable";
  if (isReconcilable && typeof tool.reconcile !== "function") {
    return `reconcile must be a function where effect is reconcilable, got ${typeof tool.reconcile}`;
  }
  for (const field of ["reconcile", "reconcileRetry"] as const) {
    if (!isReconcilable && tool[field] !== undefined)
      return `${field} is only for effect reconcilable, got effect ${tool.effect}`;
  }
  if (tool.effect !== "idempotent" && tool.keyLifetimeMs !== undefined) {
    return `keyLifetimeMs is only for effect idempotent, got effect ${tool.effect}`;
  }
  return undefined;
}

/**
 * Tools by name.
 * @param boundsOf which pools they may name, and the limits there: `onlyPool` for a worker, `poolsOf` for all tools of a deployment.
 * @throws Error where two share a name, a pool has no place for one, or a number of one contradicts its limits; with both.
 */
export function toolTable(tools: readonly AnyTool[], boundsOf: BoundsOf): ReadonlyMap<string, AnyTool> {
  if (tools.length > fixed.tools) {
    throw new Error(`tools: at most ${fixed.tools} in one deployment, got ${tools.length}`);
  }
  const table = new Map<string, AnyTool>();
  for (const tool of tools) {
    const fault = toolFault(tool) ?? placeFault(tool, boundsOf);
    if (fault !== undefined) throw new Error(`tool ${JSON.stringify(tool.name)}: ${fault}`);
    if (table.has(tool.name))
      throw new Error(`tool ${JSON.stringify(tool.name)}: name must be unique, two tools have it`);
    table.set(tool.name, tool);
  }
  return table;
}

function placeFault(tool: AnyTool, boundsOf: BoundsOf): string | undefined {
  const found = boundsOf(tool.pool);
  if ("rule" in found) return `pool ${found.rule}, got ${JSON.stringify(tool.pool) ?? "none"}`;
  return boundsFault(tool, found);
}

function boundsFault(tool: AnyTool, { attemptLimitMs, functionTimeoutMs }: Bounds): string | undefined {
  for (const [field, value] of [
    ["timeoutMs", tool.timeoutMs],
    ["reconcileRetry.timeoutMs", tool.reconcileRetry?.timeoutMs],
  ] as const) {
    if (value !== undefined && value > attemptLimitMs) {
      return `${field} (${value}) must be at most limits.attemptLimitMs (${attemptLimitMs})`;
    }
  }
  if (tool.keyLifetimeMs !== undefined && tool.keyLifetimeMs <= functionTimeoutMs) {
    return `keyLifetimeMs (${tool.keyLifetimeMs}) must be above limits.functionTimeoutMs (${functionTimeoutMs}), since a key is used until so long before it ends`;
  }
  return undefined;
}
