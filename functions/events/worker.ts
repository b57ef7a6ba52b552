/** From an SQS event to deliveries. */
import type { Context, SQSEvent } from "aws-lambda";
import { type BatchResponse, eachRecord } from "../../shared/each-record.ts";
import { handleDelivery } from "../../shared/worker.ts";
import type { WorkerWorld } from "../../shared/worker-world.ts";

export type Remaining = Pick<Context, "getRemainingTimeInMillis">;

/** One message after another: each node is claimed right before its tool runs, never for a whole batch ahead (I3). */
export const createWorker =
  (world: WorkerWorld) =>
  (event: SQSEvent, context: Remaining): Promise<BatchResponse> =>
    eachRecord(event.Records, {
      sideBySide: 1,
      log: world.log,
      identify: (record) => record.messageId,
      handle: async (record) => {
        const verdict = await handleDelivery(world, record, { remainingMs: () => context.getRemainingTimeInMillis() });
        return verdict === "acknowledge";
      },
    });
