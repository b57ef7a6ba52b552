/** Who looks on while a deployment runs. */
import type { Outgoing } from "../shared/ports.ts";
import type { Item, Write } from "../shared/write.ts";
import type { Call, Fault } from "./faults.ts";
import type { Process } from "./process.ts";
import type { QueueMessage } from "./queue-model.ts";

/** A write, or all writes of one transaction. */
export type AppliedWrites = {
  readonly by: Process;
  readonly atMs: number;
  readonly writes: readonly { readonly write: Write; readonly old: Item | undefined; readonly new: Item }[];
};

/** Told of everything that a checker may want to judge. */
export type Witness = {
  applied?(applied: AppliedWrites): void;
  acknowledged?(message: QueueMessage): void;
  /** Accepted by the queue: one stands for those of all pools. */
  sent?(message: Outgoing, by: Process): void;
  counted?(name: string, by: Process): void;
  fault?(fault: Fault, call: Call): void;
};
