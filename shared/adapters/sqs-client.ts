/** The two clients for the queues: one for all work, one for heartbeats that must not wait behind anything. */
import { SQSClient } from "@aws-sdk/client-sqs";
import { heartbeatTimes, plainTimes, type Where, wireOptions } from "./wire-times.ts";

export const sqsClient = (where: Where = {}): SQSClient => new SQSClient({ ...wireOptions(plainTimes), ...where });

export const sqsHeartbeatClient = (where: Where = {}): SQSClient =>
  new SQSClient({ ...wireOptions(heartbeatTimes), ...where });
