/** The package `leasehold/cdk`: a deployment as a construct, for an app of one's own, or as a stack. */
export type { Limits } from "../shared/limits.ts";
export type { WorkerBundling } from "./bundle.ts";
export { Leasehold, type LeaseholdFunctions, type LeaseholdQueues } from "./leasehold.ts";
export type { PoolLimits } from "./pool-limits.ts";
export type { LeaseholdProps, LogLevel, WorkerPoolProps, WorkerProps } from "./props.ts";
export { LeaseholdStack, type LeaseholdStackProps } from "./stack.ts";
export type { Worker } from "./worker.ts";
