/** What a deployer says of a deployment, and what is refused of it. */
import type * as ec2 from "aws-cdk-lib/aws-ec2";
import type * as lambda from "aws-cdk-lib/aws-lambda";
import type { Limits } from "../shared/limits.ts";
import type { WorkerBundling } from "./bundle.ts";
import type { PoolLimits } from "./pool-limits.ts";

/** One function that runs tools. */
export type WorkerProps = {
  /** Entry file of the function, for one that wraps the handler of `createWorker`. @default the shipped one */
  readonly entry?: string;
  /** What the tools read from their environment; names that begin with LEASEHOLD_ are taken. No secrets: they stand in the template. */
  readonly environment?: Readonly<Record<string, string>>;
  /** 128 to 10,240. @default 512 */
  readonly memoryMiB?: number;
  /** Where the function runs. It must reach DynamoDB, SQS, S3 and what the tools call from there: endpoints, or a NAT. @default no VPC */
  readonly vpc?: ec2.IVpc;
  /** @default the private subnets */
  readonly vpcSubnets?: ec2.SubnetSelection;
  /** @default one of its own, which lets everything out */
  readonly securityGroups?: readonly ec2.ISecurityGroup[];
  /** At most five, for arm64. The commands function gets those of all workers too, since it imports the same tools. */
  readonly layers?: readonly lambda.ILayerVersion[];
  readonly bundling?: WorkerBundling;
  /**
   * Messages of one invocation, 1 to 10: they are worked off one after another, and none is acknowledged before the last. A later
   * one is begun only while the worker's longest tool still fits into the invocation, so give such tools a `timeoutMs`.
   * @default 1
   */
  readonly batchSize?: number;
  /** Invocations at the same time, 2 to 1,000. @default as many as the account allows */
  readonly maxConcurrency?: number;
};

/** A function with a queue, memory and limits of its own, for the tools that name it. */
export type WorkerPoolProps = WorkerProps & {
  /** Path of the module that exports `tools`, all of which name this pool; those without a pool stand in the main module. */
  readonly tools: string;
  /** What differs from the limits of the deployment. */
  readonly limits?: Partial<PoolLimits>;
};

export const logLevels = ["debug", "info", "warn", "error"] as const;
export type LogLevel = (typeof logLevels)[number];

export type LeaseholdProps = {
  /** What makes the operation ids of two deployments differ: 1 to 64 of A-Z, a-z, 0-9, `_`, `.` and `-`. */
  readonly namespace: string;
  /**
   * Path of the module that exports `tools`, the list of tools that nodes may name; a relative one begins where the app runs. Its
   * import must need no environment. It is bundled: a file beside it is not there when it runs, unless it is imported
   * (`bundling.loader`).
   */
  readonly tools: string;
  /** Limits that differ from the defaults. */
  readonly limits?: Partial<Limits>;
  /** The function that runs the tools of the main module. */
  readonly worker?: WorkerProps;
  /** More workers, by name: 1 to 40 of A-Z, a-z, 0-9 and `-`. A tool names its own with `pool`. @default none */
  readonly pools?: Readonly<Record<string, WorkerPoolProps>>;
  /** Table, bucket and logs go with the stack, and nothing is protected from it; a bucket must be emptied first. @default false */
  readonly removable?: boolean;
  /**
   * What the functions write to their logs: this and what is more serious. What tools print past the context's `log` is kept from
   * Lambda's level INFO on, also at "warn" and "error". @default "info"
   */
  readonly logLevel?: LogLevel;
  /** Alarms on whatever waits for a person; what they tell is set on the property `alarms`. @default false */
  readonly alarms?: boolean;
  /** The outputs that clients and the command line read; false for a stack that has others of these names. @default true */
  readonly outputs?: boolean;
};
