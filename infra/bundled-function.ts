import type { Duration } from "aws-cdk-lib";
import * as iam from "aws-cdk-lib/aws-iam";
import * as lambda from "aws-cdk-lib/aws-lambda";
import * as logs from "aws-cdk-lib/aws-logs";
import { Construct } from "constructs";
import { limitEnvironment } from "./environment-size.ts";
import { keeping } from "./keeping.ts";
import type { LogLevel, WorkerProps } from "./props.ts";

export type BundledFunctionProps = {
  readonly description: string;
  readonly code: lambda.Code;
  readonly timeout: Duration;
  readonly memoryMiB: number;
  readonly environment: Readonly<Record<string, string>>;
  /** Whether it is one link of the loop queue -> function -> table -> function -> queue that makes a run go on. */
  readonly inLoop: boolean;
  readonly removable: boolean;
  /** @default "info" */
  readonly logLevel?: LogLevel;
  readonly layers?: readonly lambda.ILayerVersion[];
  readonly network?: Pick<WorkerProps, "vpc" | "vpcSubnets" | "securityGroups">;
};

/** One Lambda function: its handler is what `index.mjs` exports as `handler`; a role and a log group of its own. */
export class BundledFunction extends Construct {
  readonly function: lambda.Function;

  constructor(scope: Construct, id: string, props: BundledFunctionProps) {
    super(scope, id);
    const logGroup = new logs.LogGroup(this, "Logs", {
      retention: logs.RetentionDays.ONE_MONTH,
      removalPolicy: keeping(props.removable),
    });
    // A role of its own: the one that CDK would make carries AWSLambdaBasicExecutionRole, which writes to every log group.
    const role = new iam.Role(this, "Role", { assumedBy: new iam.ServicePrincipal("lambda.amazonaws.com") });
    logGroup.grantWrite(role);
    const { vpc, vpcSubnets, securityGroups } = props.network ?? {};
    if (vpc !== undefined) allowNetworkInterfaces(role);
    const level = levels[props.logLevel ?? "info"];
    this.function = new lambda.Function(this, "Function", {
      description: props.description,
      code: props.code,
      handler: "index.handler",
      runtime: lambda.Runtime.NODEJS_24_X,
      architecture: lambda.Architecture.ARM_64,
      memorySize: props.memoryMiB,
      timeout: props.timeout,
      role,
      logGroup,
      loggingFormat: lambda.LoggingFormat.JSON,
      applicationLogLevelV2: lambdaLevel(level),
      // Loop detection stops a chain after some 16 passes (invocation-recursion.html), and a run is such a chain by design.
      ...(props.inLoop ? { recursiveLoop: lambda.RecursiveLoop.ALLOW } : {}),
      environment: {
        NODE_OPTIONS: "--enable-source-maps",
        POWERTOOLS_LOG_LEVEL: level,
        ...props.environment,
      },
      ...(props.layers === undefined ? {} : { layers: [...props.layers] }),
      ...(vpc === undefined ? {} : { vpc }),
      ...(vpcSubnets === undefined ? {} : { vpcSubnets }),
      ...(securityGroups === undefined ? {} : { securityGroups: [...securityGroups] }),
    });
    limitEnvironment(this.function);
  }
}

const levels = {
  debug: lambda.ApplicationLogLevel.DEBUG,
  info: lambda.ApplicationLogLevel.INFO,
  warn: lambda.ApplicationLogLevel.WARN,
  error: lambda.ApplicationLogLevel.ERROR,
} as const satisfies Record<LogLevel, lambda.ApplicationLogLevel>;

/**
 * Lambda drops what is below its own level, whatever the function would write, so that must be low enough. It must not be above
 * INFO, either: a line without a level counts as INFO (monitoring-cloudwatchlogs-log-level.html), and metrics are such lines.
 */
const lambdaLevel = (level: lambda.ApplicationLogLevel): lambda.ApplicationLogLevel =>
  level === lambda.ApplicationLogLevel.DEBUG ? level : lambda.ApplicationLogLevel.INFO;

/** What Lambda does with the role to put a function into a VPC (configuration-vpc.html); none of it knows a narrower resource. */
function allowNetworkInterfaces(role: iam.Role): void {
  iam.Grant.addToPrincipal({
    grantee: role,
    actions: [
      "ec2:AssignPrivateIpAddresses",
      "ec2:CreateNetworkInterface",
      "ec2:DeleteNetworkInterface",
      "ec2:DescribeNetworkInterfaces",
      "ec2:DescribeSubnets",
      "ec2:UnassignPrivateIpAddresses",
    ],
    resourceArns: ["*"],
  });
}
