import { Stack } from "aws-cdk-lib";
import type * as cloudwatch from "aws-cdk-lib/aws-cloudwatch";
import type * as dynamodb from "aws-cdk-lib/aws-dynamodb";
import type * as iam from "aws-cdk-lib/aws-iam";
import type * as lambda from "aws-cdk-lib/aws-lambda";
import type * as s3 from "aws-cdk-lib/aws-s3";
import type * as sqs from "aws-cdk-lib/aws-sqs";
import { Construct } from "constructs";
import { Alarms } from "./alarms.ts";
import { shippedCode } from "./bundle.ts";
import { BundledFunction } from "./bundled-function.ts";
import { checkedDeployment } from "./checked-deployment.ts";
import { addCommandsHandler, deployedTools } from "./commands-handler.ts";
import { OutboxMapping } from "./outbox-mapping.ts";
import { addOutputs, outputsOf } from "./outputs.ts";
import type { LeaseholdProps } from "./props.ts";
import { QueueMapping } from "./queue-mapping.ts";
import { QueueWithDeadLetters } from "./queue-with-dead-letters.ts";
import { ScanRule } from "./scan-rule.ts";
import { SealedQueue } from "./sealed-queue.ts";
import { StateTable } from "./state-table.ts";
import { ValuesBucket } from "./values-bucket.ts";
import { wholeSeconds } from "./whole-seconds.ts";
import { addWorker, type Worker } from "./worker.ts";

export type LeaseholdFunctions = {
  readonly commands: lambda.Function;
  readonly relay: lambda.Function;
  readonly worker: lambda.Function;
  readonly scanner: lambda.Function;
};

export type LeaseholdQueues = {
  /** Where programs send their commands. */
  readonly commands: sqs.Queue;
  /** What wakes the main worker. */
  readonly dispatch: sqs.Queue;
  /** What could not be accepted, with its reason. */
  readonly rejected: sqs.Queue;
};

const plainMemoryMiB = 256;

/**
 * All that exists in the account: a table, a bucket, its queues, four functions and what wires them, and a function with a queue
 * for each pool. It sets no physical names, so one account holds as many as it likes. The ids of its children are a contract,
 * since a changed id is another resource.
 */
export class Leasehold extends Construct {
  readonly table: dynamodb.TableV2;
  /** Holds the outputs that are too large for the table. */
  readonly valuesBucket: s3.Bucket;
  readonly queues: LeaseholdQueues;
  readonly functions: LeaseholdFunctions;
  /** The main worker's function, for the rights that its tools need: `bucket.grantRead(leasehold.worker)`. */
  readonly worker: lambda.Function;
  /** By name; the rights of a pool's tools go to its own function. */
  readonly pools: Readonly<Record<string, Worker>>;
  readonly mappings: {
    readonly commands: lambda.EventSourceMapping;
    readonly dispatch: lambda.EventSourceMapping;
    readonly outbox: lambda.EventSourceMapping;
  };
  readonly scanRule: ScanRule;
  /** Empty where none are asked for. They tell nobody until an action is added to each. */
  readonly alarms: readonly cloudwatch.Alarm[];

  private readonly state: StateTable;
  private readonly values: ValuesBucket;

  /** @throws Error when a prop, a module of tools or the limits break a rule; limits that contradict each other are named with both numbers. */
  constructor(scope: Construct, id: string, props: LeaseholdProps) {
    super(scope, id);
    const deployment = checkedDeployment(props);
    const { namespace, removable, logLevel } = deployment;
    const { limits, overrides } = deployment.merged;
    const workers = [deployment.main, ...deployment.pools];
    const tools = deployedTools(this, workers);

    const state = new StateTable(this, "State", { removable });
    const values = new ValuesBucket(this, "Values", { limits, removable });
    const queueRetention = wholeSeconds(limits, "queueRetentionMs");
    const deadLetterRetention = wholeSeconds(limits, "deadLetterRetentionMs");
    const commandsQueue = new QueueWithDeadLetters(this, "Commands", {
      visibility: wholeSeconds(limits, "commandVisibilityMs"),
      retention: queueRetention,
      deadLetterRetention,
      maxReceives: limits.maxReceives,
    });
    const rejected = new SealedQueue(this, "Rejected", { retention: deadLetterRetention });
    const streamFailures = new SealedQueue(this, "StreamFailures", { retention: deadLetterRetention });

    const around = { state, values, rejected, namespace, queueRetention, deadLetterRetention, logLevel, removable };
    const main = addWorker(this, around, deployment.main);
    this.pools = Object.fromEntries(
      deployment.pools.map((pool) => [pool.pool, addWorker(new Construct(this, `Pool-${pool.pool}`), around, pool)]),
    );
    const pools = Object.entries(this.pools);

    const common = {
      LEASEHOLD_TABLE: state.table.tableName,
      LEASEHOLD_NAMESPACE: namespace,
      LEASEHOLD_LIMITS: JSON.stringify(overrides),
    };
    const poolUrls = Object.fromEntries(pools.map(([name, { queue }]) => [name, queue.queueUrl]));
    const toDispatch = {
      LEASEHOLD_DISPATCH_QUEUE_URL: main.queue.queueUrl,
      ...(pools.length === 0 ? {} : { LEASEHOLD_POOL_QUEUE_URLS: Stack.of(this).toJsonString(poolUrls) }),
    };
    const toRejected = { LEASEHOLD_REJECTED_QUEUE_URL: rejected.queueUrl };
    const plain = {
      timeout: wholeSeconds(limits, "plainFunctionTimeoutMs"),
      memoryMiB: plainMemoryMiB,
      removable,
      logLevel,
    };
    const commands = addCommandsHandler(this, {
      ...plain,
      workers,
      tools,
      environment: { ...common, ...toRejected, LEASEHOLD_VALUES_BUCKET: values.bucket.bucketName },
    });
    const relay = new BundledFunction(this, "Relay", {
      ...plain,
      description: "Leasehold: sends what the outbox entries list and frees what waited",
      code: shippedCode("relay"),
      inLoop: true,
      environment: { ...common, ...toDispatch, ...toRejected },
    }).function;
    const scanner = new BundledFunction(this, "Scanner", {
      ...plain,
      description: "Leasehold: compares each living run with what should have happened, and wakes what slept",
      code: shippedCode("scanner"),
      // The rule begins each chain anew, so no chain leads back to it.
      inLoop: false,
      environment: { ...common, ...toDispatch },
    }).function;

    state.allowItems(commands, "dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:UpdateItem");
    values.allowObjects(commands, "s3:PutObject");
    rejected.grant(commands, "sqs:SendMessage");
    state.allowItems(relay, "dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:UpdateItem");
    rejected.grant(relay, "sqs:SendMessage");
    state.allowItems(scanner, "dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:Query", "dynamodb:UpdateItem");
    state.allowScanIndex(scanner);
    for (const { queue } of [main, ...Object.values(this.pools)])
      for (const sender of [relay, scanner]) queue.grant(sender, "sqs:SendMessage");

    this.state = state;
    this.values = values;
    this.table = state.table;
    this.valuesBucket = values.bucket;
    this.queues = { commands: commandsQueue.queue, dispatch: main.queue, rejected };
    this.functions = { commands, relay, worker: main.function, scanner };
    this.worker = main.function;
    this.mappings = {
      commands: new QueueMapping(this, "CommandsMapping", {
        queue: commandsQueue.queue,
        consumer: commands,
        batchSize: 10,
      }),
      dispatch: main.mapping,
      outbox: new OutboxMapping(this, "OutboxMapping", { table: state.table, relay, failures: streamFailures }),
    };
    this.scanRule = new ScanRule(this, "ScanRule", scanner);
    this.alarms =
      props.alarms === true
        ? new Alarms(this, "Alarms", {
            consumed: {
              Commands: { queue: commandsQueue.queue, deadLetters: commandsQueue.deadLetters, function: commands },
              Dispatch: main,
              // No other name of an alarm begins so, whatever the pool is called.
              ...Object.fromEntries(pools.map(([name, pool]) => [`Pool-${name}`, pool])),
            },
            waiting: {
              Rejected: rejected,
              StreamFailures: streamFailures,
            },
            scanner,
          }).all
        : [];
    if (props.outputs ?? true) addOutputs(this, outputsOf(this, namespace, removable));
  }

  /**
   * Allows to start, cancel and resolve runs: to send to the commands queue, and nothing else. What became of a command is read
   * (`grantRead`), and so is whatever `createClient` finds by a stack's name, which asks CloudFormation.
   */
  grantStart(grantee: iam.IGrantable): iam.Grant {
    return this.queues.commands.grant(grantee, "sqs:SendMessage");
  }

  /**
   * Allows to read all that is said of runs: answers to commands, runs, nodes, outputs, the list of the living runs.
   * @param grantee of this account: the right is written to its own policy, and CDK passes over a role of another account.
   */
  grantRead(grantee: iam.IGrantable): iam.Grant {
    return this.state
      .allowItems(grantee, "dynamodb:GetItem", "dynamodb:Query")
      .combine(this.state.allowScanIndex(grantee))
      .combine(this.values.allowObjects(grantee, "s3:GetObject"));
  }
}
