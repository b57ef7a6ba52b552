/** From an SQS event to deliveries. */
import { type BatchResponse, eachRecord } from "../../shared/each-record.ts";
import { handleDelivery, handleLaterDelivery } from "../../shared/worker.ts";
import type { Delivery, WorkerWorld } from "../../shared/worker-world.ts";

/** What is read of an SQS event. Said here, so that whoever wraps the handler needs no types of Lambda's. */
export type WorkerEvent = { readonly Records: readonly Delivery[] };
/** What is read of an invocation's context. */
export type Remaining = { getRemainingTimeInMillis(): number };

/** One message after another: each node is claimed right before its tool runs, never for a whole batch ahead (I3). */
export const workerHandler =
  (world: WorkerWorld) =>
  (event: WorkerEvent, context: Remaining): Promise<BatchResponse> =>
    eachRecord(event.Records, {
      sideBySide: 1,
      log: world.log,
      identify: (record) => record.messageId,
      handle: async (record) => {
        const deliver = record === event.Records[0] ? handleDelivery : handleLaterDelivery;
        const verdict = await deliver(world, record, { remainingMs: () => context.getRemainingTimeInMillis() });
        return verdict === "acknowledge";
      },
    });
