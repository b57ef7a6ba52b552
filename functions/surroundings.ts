/** What every function reads and makes once per cold start. */
import { Logger } from "@aws-lambda-powertools/logger";
import { Metrics, MetricUnit } from "@aws-lambda-powertools/metrics";
import { systemChance } from "../shared/adapters/chance.ts";
import { systemClock } from "../shared/adapters/clock.ts";
import { dynamoClient } from "../shared/adapters/dynamo-client.ts";
import { dynamoTable } from "../shared/adapters/dynamo-table.ts";
import { sqsClient } from "../shared/adapters/sqs-client.ts";
import { type SqsQueueOptions, sqsQueue } from "../shared/adapters/sqs-queue.ts";
import { type Limits, limitsWith } from "../shared/limits.ts";
import type { Log, World } from "../shared/ports.ts";
import { poolQueueUrls } from "./pools.ts";

/** @throws Error that names the variable. */
export function variable(name: string): string {
  const value = process.env[name];
  if (value === undefined || value === "")
    throw new Error(`environment variable ${name} must be set; the stack sets it`);
  return value;
}

export type Surroundings = {
  readonly world: World;
  readonly limits: Limits;
  /** Writes out what was counted; to be called at the end of each invocation. */
  readonly publish: () => void;
};

/** @param service names the function in logs and metrics. */
export function surroundings(service: string): Surroundings {
  const logger = new Logger({ serviceName: service });
  const metrics = new Metrics({ namespace: "Leasehold", serviceName: service });
  const log: Log = {
    debug: (message, fields = {}) => logger.debug(message, fields),
    info: (message, fields = {}) => logger.info(message, fields),
    warn: (message, fields = {}) => logger.warn(message, fields),
    error: (message, fields = {}) => logger.error(message, fields),
  };
  const world: World = {
    table: dynamoTable({ client: dynamoClient(), tableName: variable("LEASEHOLD_TABLE") }),
    queue: sqsQueue({ client: sqsClient(), ...queueUrls(), clock: systemClock, chance: systemChance, log }),
    clock: systemClock,
    chance: systemChance,
    log,
    count: (name, by = 1) => metrics.addMetric(name, MetricUnit.Count, by),
  };
  const limits = limitsWith(JSON.parse(process.env.LEASEHOLD_LIMITS ?? "{}") as Partial<Limits>);
  return { world, limits, publish: () => metrics.publishStoredMetrics() };
}

/** Each function is given the queues that it may use, and no others. */
export function queueUrls(): Pick<SqsQueueOptions, "dispatchUrl" | "poolUrls" | "rejectedUrl"> {
  const dispatchUrl = process.env.LEASEHOLD_DISPATCH_QUEUE_URL;
  const rejectedUrl = process.env.LEASEHOLD_REJECTED_QUEUE_URL;
  return {
    ...(dispatchUrl === undefined ? {} : { dispatchUrl }),
    poolUrls: poolQueueUrls(),
    ...(rejectedUrl === undefined ? {} : { rejectedUrl }),
  };
}
