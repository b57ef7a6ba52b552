import { join, resolve } from "node:path";
import type { Duration } from "aws-cdk-lib";
import * as iam from "aws-cdk-lib/aws-iam";
import * as lambda from "aws-cdk-lib/aws-lambda";
import { NodejsFunction, OutputFormat } from "aws-cdk-lib/aws-lambda-nodejs";
import * as logs from "aws-cdk-lib/aws-logs";
import { Construct } from "constructs";
import { keeping } from "./keeping.ts";

export const projectRoot = resolve(import.meta.dirname, "..");

export type BundledFunctionProps = {
  readonly description: string;
  readonly entry: string;
  /** Module that stands for `leasehold-tools` in the bundle; missing where a function runs and checks no tool. */
  readonly tools?: string;
  readonly timeout: Duration;
  readonly memoryMiB: number;
  readonly environment: Readonly<Record<string, string>>;
  /** Whether it is one link of the loop queue -> function -> table -> function -> queue that makes a run go on. */
  readonly inLoop: boolean;
  readonly removable: boolean;
};

/** One Lambda function: bundled here and now by the project's own esbuild, with a role and a log group of its own. */
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
    this.function = new NodejsFunction(this, "Function", {
      description: props.description,
      entry: props.entry,
      handler: "handler",
      runtime: lambda.Runtime.NODEJS_24_X,
      architecture: lambda.Architecture.ARM_64,
      memorySize: props.memoryMiB,
      timeout: props.timeout,
      role,
      logGroup,
      loggingFormat: lambda.LoggingFormat.JSON,
      // Loop detection stops a chain after some 16 passes (invocation-recursion.html), and a run is such a chain by design.
      ...(props.inLoop ? { recursiveLoop: lambda.RecursiveLoop.ALLOW } : {}),
      environment: { NODE_OPTIONS: "--enable-source-maps", ...props.environment },
      // The variable that this would set is for version 2 of the SDK.
      awsSdkConnectionReuse: false,
      projectRoot,
      depsLockFilePath: join(projectRoot, "package-lock.json"),
      bundling: {
        format: OutputFormat.ESM,
        // Below the runtime's own version, so that a local emulator runs the very same bundle on the Node that is installed.
        target: "node20.19",
        mainFields: ["module", "main"],
        minify: true,
        sourceMap: true,
        sourcesContent: false,
        // The SDK of the runtime changes without a deploy; retries and time-outs here rest on the version that was tested.
        bundleAwsSDK: true,
        ...(props.tools === undefined ? {} : { esbuildArgs: { "--alias:leasehold-tools": props.tools } }),
      },
    });
  }
}
