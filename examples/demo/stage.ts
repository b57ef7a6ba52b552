/** What the demo plays on: a local AWS with the stack on it, and a provider that sells vouchers. All of it goes again. */
import { CloudFormationClient, DeleteStackCommand } from "@aws-sdk/client-cloudformation";
import { deploy } from "../../cli/local/deploy.ts";
import { localAwsEnv } from "../../cli/local/local-env.ts";
import { startMinistack } from "../../cli/local/ministack.ts";
import type { Limits } from "../../shared/limits.ts";
import { type Provider, startProvider } from "../../test/support/provider.ts";
import type { Tell } from "./narrator.ts";

export type Stage = {
  readonly provider: Provider;
  readonly tableName: string;
  readonly commandsQueueUrl: string;
};

const stackName = "LeaseholdDemo";

/** Short, so that nobody has to wait for a lease of 30 s to end. */
export const demoLimits = {
  leaseMs: 3_000,
  heartbeatMs: 1_000,
  skewMs: 1_000,
  attemptLimitMs: 8_000,
  reconcileTimeoutMs: 8_000,
  abortGraceMs: 1_000,
  commitBufferMs: 3_000,
  functionTimeoutMs: 15_000,
  plainFunctionTimeoutMs: 15_000,
  queueVisibilityMs: 30_000,
} satisfies Partial<Limits>;

/** Plays, and takes everything down again, however that ends. */
export async function withStage<Result>(
  tell: Tell,
  signal: AbortSignal,
  play: (stage: Stage) => Promise<Result>,
): Promise<Result> {
  const given = process.env.AWS_ENDPOINT_URL;
  const isGiven = given !== undefined && given !== "";
  const undo: (() => Promise<unknown>)[] = [];
  try {
    const provider = await startProvider();
    undo.push(provider.stop);
    tell(isGiven ? `using the local AWS at ${given}` : "starting a local AWS (MiniStack, no Docker) on this machine");
    const local = isGiven ? { endpoint: given, stop: async () => {} } : await startMinistack();
    undo.push(local.stop);
    signal.throwIfAborted();
    useOnly(localAwsEnv(local.endpoint));
    tell("cdk deploy: a table, a bucket, its queues, four Lambda functions");
    if (isGiven) undo.push(removeStack);
    const outputs = await deploy({
      endpoint: local.endpoint,
      context: {
        stackName,
        namespace: "demo",
        removable: "true",
        limits: JSON.stringify(demoLimits),
        workerEnvironment: JSON.stringify({ PROVIDER_URL: provider.url }),
      },
      quiet: true,
      signal,
    });
    const { TableName: tableName, CommandsQueueUrl: commandsQueueUrl } = outputs[stackName] ?? {};
    if (tableName === undefined || commandsQueueUrl === undefined)
      throw new Error(`stack ${stackName} must have the outputs TableName and CommandsQueueUrl`);
    return await play({ provider, tableName, commandsQueueUrl });
  } finally {
    for (const take of undo.reverse()) await take().catch((error: unknown) => tell(`not taken down: ${error}`));
  }
}

/** The client reads the environment, where a profile or an endpoint of the user's own would win over the local AWS. */
function useOnly(environment: Readonly<Record<string, string>>): void {
  for (const name of Object.keys(process.env)) if (name.startsWith("AWS_")) delete process.env[name];
  Object.assign(process.env, environment, {
    AWS_CONFIG_FILE: "/dev/null",
    AWS_SHARED_CREDENTIALS_FILE: "/dev/null",
    AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: "true",
  });
}

/** A local AWS that stays keeps nothing of the demo. */
async function removeStack(): Promise<void> {
  const client = new CloudFormationClient();
  try {
    await client.send(new DeleteStackCommand({ StackName: stackName }));
  } finally {
    client.destroy();
  }
}
