/** The package `leasehold`: what a module of tools imports, and a worker entry of one's own. */
export type { BatchResponse } from "../shared/each-record.ts";
export { NonRetryableError, RetryableError } from "../shared/errors.ts";
export type { Json } from "../shared/json.ts";
export { defaultLimits, type Limits } from "../shared/limits.ts";
export type { Fields, Log } from "../shared/ports.ts";
export {
  type AnyTool,
  defineTool,
  type EffectClass,
  type LeaseKind,
  type Reconciled,
  type ReconcilePolicy,
  type RetryPolicy,
  type RunStep,
  type StepContext,
  type StepOptions,
  type Tool,
  type ToolContext,
} from "../shared/tool.ts";
export { createWorker, type WorkerHandler } from "./create-worker.ts";
export type { Remaining, WorkerEvent } from "./events/worker.ts";
