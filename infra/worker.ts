import type { Duration } from "aws-cdk-lib";
import type * as lambda from "aws-cdk-lib/aws-lambda";
import type * as sqs from "aws-cdk-lib/aws-sqs";
import type { Construct } from "constructs";
import { bundledCode } from "./bundle.ts";
import { BundledFunction } from "./bundled-function.ts";
import { functionModule } from "./package-root.ts";
import type { MergedLimits } from "./pool-limits.ts";
import type { LogLevel, WorkerProps } from "./props.ts";
import { QueueMapping } from "./queue-mapping.ts";
import { QueueWithDeadLetters } from "./queue-with-dead-letters.ts";
import type { StateTable } from "./state-table.ts";
import type { ValuesBucket } from "./values-bucket.ts";
import { wholeSeconds } from "./whole-seconds.ts";

/** What all workers of a deployment share. */
export type WorkerSurroundings = {
  readonly state: StateTable;
  readonly values: ValuesBucket;
  readonly rejected: sqs.Queue;
  readonly namespace: string;
  readonly queueRetention: Duration;
  readonly deadLetterRetention: Duration;
  readonly logLevel: LogLevel;
  readonly removable: boolean;
};

export type OneWorker = WorkerProps & {
  /** Absolute path of its module of tools, and the prop that names it. */
  readonly tools: string;
  readonly toolsField: string;
  /** Missing for the main worker. */
  readonly pool?: string;
  readonly merged: MergedLimits;
  /** The prop that says its limits. */
  readonly limitsField: string;
};

/** A function that runs tools, the queue that wakes it, and what ties them. */
export type Worker = {
  readonly function: lambda.Function;
  readonly queue: sqs.Queue;
  readonly deadLetters: sqs.Queue;
  readonly mapping: lambda.EventSourceMapping;
};

/** @param scope takes it all in, under the same ids for the main worker and for each pool, which has a scope of its own. */
export function addWorker(scope: Construct, around: WorkerSurroundings, worker: OneWorker): Worker {
  const { overrides, limits } = worker.merged;
  const { queue, deadLetters } = new QueueWithDeadLetters(scope, "Dispatch", {
    visibility: wholeSeconds(limits, "queueVisibilityMs", worker.limitsField),
    retention: around.queueRetention,
    deadLetterRetention: around.deadLetterRetention,
    maxReceives: limits.maxReceives,
  });
  const consumer = new BundledFunction(scope, "Worker", {
    description: `Leasehold: claims a node, runs its tool, commits its outcome${worker.pool === undefined ? "" : ` (pool ${worker.pool})`}`,
    code: bundledCode({
      entry: worker.entry ?? functionModule("worker"),
      tools: worker.tools,
      ...(worker.bundling === undefined ? {} : { bundling: worker.bundling }),
    }),
    timeout: wholeSeconds(limits, "functionTimeoutMs", worker.limitsField),
    memoryMiB: worker.memoryMiB ?? 512,
    removable: around.removable,
    logLevel: around.logLevel,
    inLoop: true,
    ...(worker.layers === undefined ? {} : { layers: worker.layers }),
    network: worker,
    environment: {
      ...worker.environment,
      LEASEHOLD_TABLE: around.state.table.tableName,
      LEASEHOLD_NAMESPACE: around.namespace,
      LEASEHOLD_LIMITS: JSON.stringify(overrides),
      // It sends no dispatch, but hides the message of the node that it holds, for which it must name the queue.
      LEASEHOLD_DISPATCH_QUEUE_URL: queue.queueUrl,
      LEASEHOLD_REJECTED_QUEUE_URL: around.rejected.queueUrl,
      LEASEHOLD_VALUES_BUCKET: around.values.bucket.bucketName,
      ...(worker.pool === undefined ? {} : { LEASEHOLD_POOL: worker.pool }),
    },
  }).function;
  around.state.allowItems(consumer, "dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:UpdateItem");
  around.values.allowObjects(consumer, "s3:GetObject", "s3:PutObject");
  around.rejected.grant(consumer, "sqs:SendMessage");
  const mapping = new QueueMapping(scope, "DispatchMapping", {
    queue,
    consumer,
    // One message an invocation: it is acknowledged when its own node is committed, not when the slowest of a batch is.
    batchSize: worker.batchSize ?? 1,
    ...(worker.maxConcurrency === undefined ? {} : { maxConcurrency: worker.maxConcurrency }),
  });
  return { function: consumer, queue, deadLetters, mapping };
}
