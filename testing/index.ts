/** What a test of one's own tools and graphs imports, as `leasehold/testing`. */
export { type CrashAtEveryStepOptions, crashAtEveryStep } from "./crash-at-every-step.ts";
export type { MadeCall, NodeOutcome } from "./outcome.ts";
export {
  type CrashPoint,
  type NodeRequest,
  type Outcome,
  type Resolution,
  type SimulateOptions,
  simulate,
} from "./simulate.ts";
export { callOutside, clock } from "./tool-code.ts";
