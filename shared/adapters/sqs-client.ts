/** The two clients for the queues: one for all work, one for heartbeats that must not wait behind anything. */
import { SQSClient } from "@aws-sdk/client-sqs";
import { heartbeatTimes, plainTimes, type Where, wireOptions } from "./wire-times.ts";

/**
 * Without it the SDK would send to the host in the queue's URL whatever endpoint is set, so that two settings could
 * disagree in silence; the region or the endpoint decides, as it does for the table.
 */
const byEndpoint = { useQueueUrlAsEndpoint: false } as const;

export const sqsClient = (where: Where = {}): SQSClient =>
  new SQSClient({ ...wireOptions(plainTimes), ...byEndpoint, ...where });

export const sqsHeartbeatClient = (where: Where = {}): SQSClient =>
  new SQSClient({ ...wireOptions(heartbeatTimes), ...byEndpoint, ...where });
