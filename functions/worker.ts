/** Lambda on the dispatch queue: claims the node of each message, runs its tool, commits its outcome. */
import type { SQSEvent } from "aws-lambda";
import { tools } from "leasehold-tools";
import { systemChance } from "../shared/adapters/chance.ts";
import { systemClock } from "../shared/adapters/clock.ts";
import { dynamoHeartbeatClient } from "../shared/adapters/dynamo-client.ts";
import { dynamoTable } from "../shared/adapters/dynamo-table.ts";
import { sqsHeartbeatClient } from "../shared/adapters/sqs-client.ts";
import { sqsQueue } from "../shared/adapters/sqs-queue.ts";
import type { BatchResponse } from "../shared/each-record.ts";
import { toolTable } from "../shared/tool.ts";
import { createWorker, type Remaining } from "./events/worker.ts";
import { queueUrls, surroundings, values, variable } from "./surroundings.ts";

const { world, limits, publish } = surroundings("worker");
const handle = createWorker({
  ...world,
  limits,
  blobs: values(),
  namespace: variable("LEASEHOLD_NAMESPACE"),
  tools: toolTable(tools, limits),
  pulse: {
    table: dynamoTable({ client: dynamoHeartbeatClient(), tableName: variable("LEASEHOLD_TABLE") }),
    queue: sqsQueue({ client: sqsHeartbeatClient(), ...queueUrls(), clock: systemClock, chance: systemChance }),
  },
  endProcess: () => {
    publish();
    process.exit(1);
  },
});

export const handler = (event: SQSEvent, context: Remaining): Promise<BatchResponse> =>
  handle(event, context).finally(publish);
