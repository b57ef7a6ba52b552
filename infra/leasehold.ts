import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import type * as dynamodb from "aws-cdk-lib/aws-dynamodb";
import type * as lambda from "aws-cdk-lib/aws-lambda";
import type * as s3 from "aws-cdk-lib/aws-s3";
import type * as sqs from "aws-cdk-lib/aws-sqs";
import { Construct } from "constructs";
import { type Limits, limitsWith } from "../shared/limits.ts";
import { BundledFunction, projectRoot } from "./bundled-function.ts";
import { OutboxMapping } from "./outbox-mapping.ts";
import { QueueMapping } from "./queue-mapping.ts";
import { QueueWithDeadLetters } from "./queue-with-dead-letters.ts";
import { ScanRule } from "./scan-rule.ts";
import { SealedQueue } from "./sealed-queue.ts";
import { StateTable } from "./state-table.ts";
import { ValuesBucket } from "./values-bucket.ts";
import { wholeSeconds } from "./whole-seconds.ts";

export type LeaseholdProps = {
  /** What makes the operation ids of two deployments differ: 1 to 64 of A-Z, a-z, 0-9, `_`, `.` and `-`. */
  readonly namespace: string;
  /** Path of the module that exports `tools`, the list of tools that nodes may name. Its import must need no environment. */
  readonly tools: string;
  /** Limits that differ from the defaults. */
  readonly limits?: Partial<Limits>;
  /** Table, bucket and logs go with the stack, and nothing is protected from it; a bucket must be emptied first. @default false */
  readonly removable?: boolean;
  /** Entry file of the worker function, for one that wraps the shipped handler. @default functions/worker.ts */
  readonly workerEntry?: string;
  /** What the tools read from their environment; names that begin with LEASEHOLD_ are taken. */
  readonly workerEnvironment?: Readonly<Record<string, string>>;
  /** @default 512 */
  readonly workerMemoryMiB?: number;
};

export type LeaseholdFunctions = {
  readonly commands: lambda.Function;
  readonly relay: lambda.Function;
  readonly worker: lambda.Function;
  readonly scanner: lambda.Function;
};

export type LeaseholdQueues = {
  /** Where programs send their commands. */
  readonly commands: sqs.Queue;
  /** What wakes the workers. */
  readonly dispatch: sqs.Queue;
  /** What could not be accepted, with its reason. */
  readonly rejected: sqs.Queue;
};

const plainMemoryMiB = 256;

/**
 * All that exists in the account: a table, a bucket, its queues, four functions and what wires them. It sets no physical names, so
 * one account holds as many as it likes. The ids of its children are a contract, since a changed id is another resource.
 */
export class Leasehold extends Construct {
  readonly table: dynamodb.TableV2;
  /** Holds the outputs that are too large for the table. */
  readonly valuesBucket: s3.Bucket;
  readonly queues: LeaseholdQueues;
  readonly functions: LeaseholdFunctions;
  readonly mappings: {
    readonly commands: lambda.EventSourceMapping;
    readonly dispatch: lambda.EventSourceMapping;
    readonly outbox: lambda.EventSourceMapping;
  };
  readonly scanRule: ScanRule;

  /** @throws Error when the namespace, a path or the limits break a rule; limits that contradict each other are named with both numbers. */
  constructor(scope: Construct, id: string, props: LeaseholdProps) {
    super(scope, id);
    const limits = limitsWith(props.limits);
    const removable = props.removable ?? false;
    const tools = existingFile("tools", props.tools);

    const state = new StateTable(this, "State", { removable });
    const values = new ValuesBucket(this, "Values", { limits, removable });
    const deadLetterRetention = wholeSeconds(limits, "deadLetterRetentionMs");
    const consumed = {
      visibility: wholeSeconds(limits, "queueVisibilityMs"),
      retention: wholeSeconds(limits, "queueRetentionMs"),
      deadLetterRetention,
      maxReceives: limits.maxReceives,
    };
    const commandsQueue = new QueueWithDeadLetters(this, "Commands", {
      ...consumed,
      visibility: wholeSeconds(limits, "commandVisibilityMs"),
    }).queue;
    const dispatchQueue = new QueueWithDeadLetters(this, "Dispatch", consumed).queue;
    const rejectedQueue = new SealedQueue(this, "Rejected", { retention: deadLetterRetention });
    const streamFailures = new SealedQueue(this, "StreamFailures", { retention: deadLetterRetention });

    const common = {
      LEASEHOLD_TABLE: state.table.tableName,
      LEASEHOLD_NAMESPACE: validNamespace(props.namespace),
      LEASEHOLD_LIMITS: JSON.stringify(props.limits ?? {}),
    };
    const toDispatch = { LEASEHOLD_DISPATCH_QUEUE_URL: dispatchQueue.queueUrl };
    const toValues = { LEASEHOLD_VALUES_BUCKET: values.bucket.bucketName };
    const toRejected = { LEASEHOLD_REJECTED_QUEUE_URL: rejectedQueue.queueUrl };
    const plain = {
      timeout: wholeSeconds(limits, "plainFunctionTimeoutMs"),
      memoryMiB: plainMemoryMiB,
      removable,
    };
    const commands = new BundledFunction(this, "CommandsHandler", {
      ...plain,
      description: "Leasehold: checks commands and writes runs",
      entry: shipped("commands"),
      tools,
      inLoop: true,
      environment: { ...common, ...toRejected, ...toValues },
    }).function;
    const relay = new BundledFunction(this, "Relay", {
      ...plain,
      description: "Leasehold: sends what the outbox entries list and frees what waited",
      entry: shipped("relay"),
      inLoop: true,
      environment: { ...common, ...toDispatch, ...toRejected },
    }).function;
    const worker = new BundledFunction(this, "Worker", {
      description: "Leasehold: claims a node, runs its tool, commits its outcome",
      entry: props.workerEntry === undefined ? shipped("worker") : existingFile("workerEntry", props.workerEntry),
      tools,
      timeout: wholeSeconds(limits, "functionTimeoutMs"),
      memoryMiB: props.workerMemoryMiB ?? 512,
      removable,
      inLoop: true,
      // It sends no dispatch, but hides the message of the node that it holds, for which it must name the queue.
      environment: {
        ...freeNames(props.workerEnvironment ?? {}),
        ...common,
        ...toDispatch,
        ...toRejected,
        ...toValues,
      },
    }).function;
    const scanner = new BundledFunction(this, "Scanner", {
      ...plain,
      description: "Leasehold: compares each living run with what should have happened, and wakes what slept",
      entry: shipped("scanner"),
      // The rule begins each chain anew, so no chain leads back to it.
      inLoop: false,
      environment: { ...common, ...toDispatch },
    }).function;

    state.allowItems(commands, "dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:UpdateItem");
    values.allowObjects(commands, "s3:PutObject");
    rejectedQueue.grant(commands, "sqs:SendMessage");
    state.allowItems(relay, "dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:UpdateItem");
    dispatchQueue.grant(relay, "sqs:SendMessage");
    rejectedQueue.grant(relay, "sqs:SendMessage");
    state.allowItems(worker, "dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:UpdateItem");
    values.allowObjects(worker, "s3:GetObject", "s3:PutObject");
    rejectedQueue.grant(worker, "sqs:SendMessage");
    state.allowItems(scanner, "dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:Query", "dynamodb:UpdateItem");
    state.allowScanIndex(scanner);
    dispatchQueue.grant(scanner, "sqs:SendMessage");

    this.table = state.table;
    this.valuesBucket = values.bucket;
    this.queues = { commands: commandsQueue, dispatch: dispatchQueue, rejected: rejectedQueue };
    this.functions = { commands, relay, worker, scanner };
    this.mappings = {
      commands: new QueueMapping(this, "CommandsMapping", { queue: commandsQueue, consumer: commands, batchSize: 10 }),
      // One message an invocation: it is acknowledged when its own node is committed, not when the slowest of a batch is.
      dispatch: new QueueMapping(this, "DispatchMapping", { queue: dispatchQueue, consumer: worker, batchSize: 1 }),
      outbox: new OutboxMapping(this, "OutboxMapping", { table: state.table, relay, failures: streamFailures }),
    };
    this.scanRule = new ScanRule(this, "ScanRule", scanner);
  }
}

const shipped = (name: keyof LeaseholdFunctions): string => join(projectRoot, "functions", `${name}.ts`);

function validNamespace(namespace: string): string {
  if (/^[A-Za-z0-9_.-]{1,64}$/.test(namespace)) return namespace;
  throw new Error(`namespace must be 1 to 64 of A-Z, a-z, 0-9, "_", "." and "-", got ${JSON.stringify(namespace)}`);
}

function existingFile(field: string, path: string): string {
  const absolute = resolve(path);
  if (existsSync(absolute)) return absolute;
  throw new Error(`${field} must be the path of an existing module, got ${JSON.stringify(path)}`);
}

function freeNames(environment: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const taken = Object.keys(environment).filter((name) => name.startsWith("LEASEHOLD_"));
  if (taken.length === 0) return environment;
  throw new Error(`workerEnvironment must not set names that begin with LEASEHOLD_, got ${taken.join(", ")}`);
}
