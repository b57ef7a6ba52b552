import { mkdtemp, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { CloudFormationClient, DescribeStacksCommand } from "@aws-sdk/client-cloudformation";
import { cdkProgram } from "./cdk-program.ts";
import { localAccount, localAwsEnv, localRegion } from "./local-env.ts";
import { runProgram } from "./run-program.ts";
import { makeWorkspace, projectRoot, workspace } from "./workspace.ts";

export type DeployOptions = {
  readonly endpoint: string;
  /** Where cdk.json stands, and where the app runs. @default the project's own */
  readonly folder?: string;
  /** Command that runs the CDK app. @default the one of cdk.json */
  readonly app?: string;
  /** @default all of the app */
  readonly stacks?: readonly string[];
  readonly context?: Readonly<Record<string, string>>;
  /** For the app, besides what it needs to find the local AWS. */
  readonly env?: Readonly<Record<string, string>>;
  /** File that takes the outputs as JSON. @default none */
  readonly outputsFile?: string;
  /** Shows nothing of what the CDK prints, unless it fails. @default false */
  readonly quiet?: boolean;
  /** Takes what it prints. @default standard error */
  readonly show?: (text: string) => void;
  /** What the CDK inherits, but for names that begin with AWS_ or CDK_. @default the process's */
  readonly environment?: NodeJS.ProcessEnv;
  readonly signal?: AbortSignal;
};

/** By stack name, then by output name. */
export type DeployedOutputs = Readonly<Record<string, Readonly<Record<string, string>>>>;

/**
 * Deploys stacks of a CDK app to a local AWS, bootstrapping it where that has not been done. Several may go on at once.
 * @throws Error where no AWS answers or the CDK fails; with the end of what the CDK printed unless it was shown.
 */
export async function deploy(options: DeployOptions): Promise<DeployedOutputs> {
  await makeWorkspace();
  // A folder of its own: two that deploy at the same time would meet in cdk.out, which the CDK locks.
  const folder = await mkdtemp(join(workspace, "deploy-"));
  try {
    await bootstrapped(folder, options);
    const outputsFile = options.outputsFile ?? join(folder, "outputs.json");
    const args = [
      "deploy",
      ...(options.stacks ?? ["--all"]),
      ...["--require-approval", "never", "--method", "direct", "--concurrency", "4"],
      ...["--output", join(folder, "cdk.out"), "--outputs-file", outputsFile],
      ...(options.app === undefined ? [] : ["--app", options.app]),
      ...Object.entries(options.context ?? {}).flatMap(([name, value]) => ["--context", `${name}=${value}`]),
    ];
    await cdk(options.folder ?? projectRoot, args, options);
    const outputs: DeployedOutputs = JSON.parse(await readFile(outputsFile, "utf8"));
    return outputs;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const bootstraps = new Map<string, Promise<void>>();

function bootstrapped(emptyFolder: string, options: DeployOptions): Promise<void> {
  const known = bootstraps.get(options.endpoint);
  if (known !== undefined) return known;
  const bootstrap = bootstrapOnce(emptyFolder, options).catch((error: unknown) => {
    bootstraps.delete(options.endpoint);
    throw error;
  });
  bootstraps.set(options.endpoint, bootstrap);
  return bootstrap;
}

async function bootstrapOnce(emptyFolder: string, options: DeployOptions): Promise<void> {
  if (await hasToolkit(options.endpoint)) return;
  try {
    // Where there is no cdk.json, or the CDK would run the app first, for nothing.
    await cdk(emptyFolder, ["bootstrap", `aws://${localAccount}/${localRegion}`], options);
  } catch (error) {
    // Another process may have been faster, and then this one was refused.
    if (!(await hasToolkit(options.endpoint))) throw error;
  }
}

async function hasToolkit(endpoint: string): Promise<boolean> {
  const client = new CloudFormationClient({
    endpoint,
    region: localRegion,
    credentials: { accessKeyId: "test", secretAccessKey: "test" },
  });
  try {
    const answer = await client.send(new DescribeStacksCommand({ StackName: "CDKToolkit" }));
    return answer.Stacks?.some((stack) => /^(CREATE|UPDATE)_COMPLETE$/.test(stack.StackStatus ?? "")) ?? false;
  } catch (error) {
    // CloudFormation says so when there is no such stack.
    if (error instanceof Error && error.name === "ValidationError") return false;
    // A terminal may still know the one that has ended since.
    if (error instanceof Error && "code" in error && error.code === "ECONNREFUSED")
      throw new Error(`no AWS answers at ${endpoint}: start it, or unset AWS_ENDPOINT_URL to have one started`, {
        cause: error,
      });
    throw error;
  } finally {
    client.destroy();
  }
}

async function cdk(cwd: string, args: readonly string[], options: DeployOptions): Promise<void> {
  const program = cdkProgram(process.cwd());
  const show = options.show ?? ((text: string) => process.stderr.write(text));
  await runProgram(process.execPath, [program, ...args, "--no-notices", "--no-version-reporting"], {
    cwd,
    env: cdkEnvironment(options),
    ...(options.quiet === true ? {} : { show }),
    ...(options.signal === undefined ? {} : { signal: options.signal }),
  });
}

function cdkEnvironment(options: DeployOptions): NodeJS.ProcessEnv {
  const inherited = Object.entries(options.environment ?? process.env).filter(([name]) => !/^(AWS|CDK)_/.test(name));
  return {
    ...Object.fromEntries(inherited),
    ...localAwsEnv(options.endpoint),
    AWS_ENDPOINT_URL_S3: s3Endpoint(options.endpoint),
    // A profile of the user's would win over the dummies above.
    AWS_CONFIG_FILE: "/dev/null",
    AWS_SHARED_CREDENTIALS_FILE: "/dev/null",
    AWS_EC2_METADATA_DISABLED: "true",
    CDK_DISABLE_CLI_TELEMETRY: "true",
    CDK_DISABLE_VERSION_CHECK: "true",
    // Its cache maps credentials to accounts, and the dummies have no place in the user's own.
    CDK_HOME: join(workspace, "cdk-home"),
    ...options.env,
  };
}

/** By number and not by name, so that the bucket goes into the path and not before a host name that nobody resolves. */
const s3Endpoint = (endpoint: string): string => endpoint.replace("//localhost:", "//127.0.0.1:");
