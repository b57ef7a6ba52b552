/** Lambda on a dispatch queue: claims the node of each message, runs its tool, commits its outcome. */
import { systemChance } from "../shared/adapters/chance.ts";
import { systemClock } from "../shared/adapters/clock.ts";
import { dynamoHeartbeatClient } from "../shared/adapters/dynamo-client.ts";
import { dynamoTable } from "../shared/adapters/dynamo-table.ts";
import { sqsHeartbeatClient } from "../shared/adapters/sqs-client.ts";
import { sqsQueue } from "../shared/adapters/sqs-queue.ts";
import type { BatchResponse } from "../shared/each-record.ts";
import { type AnyTool, toolTable } from "../shared/tool.ts";
import { type Remaining, type WorkerEvent, workerHandler } from "./events/worker.ts";
import { boundsOfOwnPool } from "./pools.ts";
import { queueUrls, surroundings, variable } from "./surroundings.ts";
import { values } from "./values.ts";

/** An SQS event and the invocation's context, to what Lambda is to know of each message. */
export type WorkerHandler = (event: WorkerEvent, context: Remaining) => Promise<BatchResponse>;

/**
 * The worker's handler. To be called once, where the module of the function is loaded, and nowhere else: it reads what the
 * stack has put into the function's environment.
 * @param tools those of this worker's pool, or those without a pool for the main worker.
 * @throws Error that names the variable that is missing, or the tool and the rule that it breaks.
 */
export function createWorker(tools: readonly AnyTool[]): WorkerHandler {
  const { world, limits, publish } = surroundings("worker");
  const handle = workerHandler({
    ...world,
    limits,
    blobs: values(),
    namespace: variable("LEASEHOLD_NAMESPACE"),
    tools: toolTable(tools, boundsOfOwnPool(limits)),
    pulse: {
      table: dynamoTable({ client: dynamoHeartbeatClient(), tableName: variable("LEASEHOLD_TABLE") }),
      queue: sqsQueue({ client: sqsHeartbeatClient(), ...queueUrls(), clock: systemClock, chance: systemChance }),
    },
    endProcess: () => {
      publish();
      process.exit(1);
    },
  });
  return (event, context) => handle(event, context).finally(publish);
}
