import type { Limits } from "./limits.ts";
import type { Blobs, Queue, Table, World } from "./ports.ts";
import type { AnyTool } from "./tool.ts";

/** What the worker's core is given. */
export type WorkerWorld = World & {
  readonly limits: Limits;
  readonly blobs: Blobs;
  /** Makes the operation ids of two deployments differ. */
  readonly namespace: string;
  readonly tools: ReadonlyMap<string, AnyTool>;
  /** Clients of their own with short time-outs, so that a heartbeat never queues behind other calls. */
  readonly pulse: { readonly table: Table; readonly queue: Queue };
  /** Ends this process; never resolves. For a tool that does not stop: a frozen environment would thaw and let it act later. */
  readonly endProcess: () => Promise<never>;
};

export type Delivery = { readonly messageId: string; readonly receiptHandle: string; readonly body: string };
export type Invocation = { readonly remainingMs: () => number };

/** What becomes of the message: acknowledged, or delivered again once its visibility ends. */
export type Verdict = "acknowledge" | "redeliver";
