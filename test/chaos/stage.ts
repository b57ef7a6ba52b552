/** A local AWS of a program's own with some stacks on it, and the provider that their tools call. All of it goes again. */
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { InvokeCommand, LambdaClient, UpdateEventSourceMappingCommand } from "@aws-sdk/client-lambda";
import { deploy } from "../../cli/local/deploy.ts";
import { localRegion } from "../../cli/local/local-env.ts";
import { startMinistack } from "../../cli/local/ministack.ts";
import { projectRoot } from "../../cli/local/workspace.ts";
import { type Client, clientOver } from "../../client/client.ts";
import { systemChance } from "../../shared/adapters/chance.ts";
import { systemClock } from "../../shared/adapters/clock.ts";
import { commandQueue, commandQueueClient } from "../../shared/adapters/command-queue.ts";
import { dynamoClient } from "../../shared/adapters/dynamo-client.ts";
import { dynamoTable } from "../../shared/adapters/dynamo-table.ts";
import { sqsClient } from "../../shared/adapters/sqs-client.ts";
import { type Limits, limitsWith } from "../../shared/limits.ts";
import type { Table } from "../../shared/ports.ts";
import type { TestStack } from "../support/app.ts";
import { type Queues, queuesOf } from "../support/e2e-queues.ts";
import type { FunctionName } from "../support/e2e-stacks.ts";
import { type FaultProxy, startFaultProxy } from "../support/fault-proxy.ts";
import { type Provider, startProvider } from "../support/provider.ts";

/** As short as the relations in limits.ts and a busy machine allow; a message that no claim has shortened comes back after 8 s. */
export const chaosLimits = {
  leaseMs: 3_000,
  heartbeatMs: 1_000,
  skewMs: 500,
  attemptLimitMs: 4_000,
  abortGraceMs: 500,
  commitBufferMs: 2_000,
  functionTimeoutMs: 7_000,
  plainFunctionTimeoutMs: 8_000,
  queueVisibilityMs: 8_000,
  backoffBaseMs: 100,
  backoffMaxMs: 1_000,
  scanEveryMs: 1_000,
  scanIdleMs: 5_000,
  strandedMs: 1_000,
} as const satisfies Partial<Limits>;

export type StackPlan = {
  readonly name: string;
  /** Functions whose calls go through a fault proxy of their own. */
  readonly proxied: readonly FunctionName[];
  readonly limits?: Partial<Limits>;
  readonly disabled?: { readonly relayMapping?: boolean; readonly scanRule?: boolean };
};

export type StagedStack = Queues & {
  readonly name: string;
  readonly namespace: string;
  readonly limits: Limits;
  readonly client: Client;
  readonly table: Table;
  readonly provider: Provider;
  readonly proxies: Readonly<Partial<Record<FunctionName, FaultProxy>>>;
  /** Invokes the scanner. @throws when it died or failed. */
  scan(): Promise<unknown>;
  /** What the function is called in the local AWS. */
  functionName(of: FunctionName): string;
  setMapping(which: "dispatch" | "stream", enabled: boolean): Promise<void>;
};

export type Stage = {
  readonly provider: Provider;
  readonly stacks: readonly StagedStack[];
  stop(): Promise<void>;
};

/** @param log takes what the local AWS and all functions print. */
export async function openStage(plans: readonly StackPlan[], log?: string): Promise<Stage> {
  const undo: (() => Promise<unknown>)[] = [];
  const stop = async (): Promise<void> => {
    for (const take of undo.splice(0).reverse()) await take();
  };
  try {
    const provider = await startProvider();
    undo.push(provider.stop);
    const local = await startMinistack(log === undefined ? {} : { log });
    undo.push(local.stop);
    // A name that nobody else's functions have: processes are found, and killed, by it.
    const prefix = `Chaos${randomBytes(4).toString("hex")}`;
    const proxies = await Promise.all(plans.map((plan) => proxiesOf(plan, local.endpoint, undo)));
    const stacks = plans.map((plan, place) =>
      testStack(plan, `${prefix}-${plan.name}`, proxies[place] ?? {}, provider),
    );
    const outputs = await deploy({
      endpoint: local.endpoint,
      app: "node --import tsx test/support/app.ts",
      env: { LEASEHOLD_TEST_STACKS: JSON.stringify(stacks) },
      quiet: true,
    });
    const staged = plans.map((plan, place) =>
      stagedStack(plan, local.endpoint, outputs[`${prefix}-${plan.name}`] ?? {}, proxies[place] ?? {}, provider),
    );
    return { provider, stacks: await Promise.all(staged), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

type Proxies = Partial<Record<FunctionName, FaultProxy>>;

async function proxiesOf(plan: StackPlan, target: string, undo: (() => Promise<unknown>)[]): Promise<Proxies> {
  const proxies: Proxies = {};
  for (const called of plan.proxied) {
    const proxy = await startFaultProxy({ target });
    undo.push(proxy.stop);
    proxies[called] = proxy;
  }
  return proxies;
}

const namespaceOf = (plan: StackPlan): string => `chaos-${plan.name}`;

function testStack(plan: StackPlan, name: string, proxies: Proxies, provider: Provider): TestStack {
  const endpoints = Object.entries(proxies).map(([called, { url }]) => [called, { dynamodb: url, sqs: url }]);
  return {
    name,
    namespace: namespaceOf(plan),
    limits: { ...chaosLimits, ...plan.limits },
    tools: join(projectRoot, "test", "support", "tools", "index.ts"),
    worker: { environment: { PROVIDER_URL: provider.url } },
    endpoints: Object.fromEntries(endpoints),
    ...(plan.disabled ? { disabled: plan.disabled } : {}),
  };
}

async function stagedStack(
  plan: StackPlan,
  endpoint: string,
  outputs: Readonly<Record<string, string>>,
  proxies: Proxies,
  provider: Provider,
): Promise<StagedStack> {
  const output = (name: string): string => {
    const value = outputs[name];
    if (value === undefined) throw new Error(`stack ${plan.name} has no output ${name}`);
    return value;
  };
  const where = { endpoint, region: localRegion, credentials: { accessKeyId: "test", secretAccessKey: "test" } };
  const lambda = new LambdaClient(where);
  const table = dynamoTable({ client: dynamoClient(where), tableName: output("TableName") });
  const send = commandQueue({ client: commandQueueClient(where), queueUrl: output("CommandsQueueUrl") });
  const functionName = (of: FunctionName): string => output(`${of[0]?.toUpperCase()}${of.slice(1)}FunctionName`);
  return {
    ...(await queuesOf(sqsClient(where), output)),
    name: plan.name,
    namespace: namespaceOf(plan),
    limits: limitsWith({ ...chaosLimits, ...plan.limits }),
    client: clientOver({ table, send, clock: systemClock, newId: systemChance.id }),
    table,
    provider,
    proxies,
    functionName,
    scan: async () => {
      const answer = await lambda.send(new InvokeCommand({ FunctionName: functionName("scanner"), Payload: "{}" }));
      const payload = Buffer.from(answer.Payload ?? []).toString("utf8");
      if (answer.FunctionError !== undefined) throw new Error(`the scanner failed: ${payload}`);
      return JSON.parse(payload);
    },
    setMapping: async (which, enabled) => {
      const id = output(which === "dispatch" ? "DispatchMappingId" : "StreamMappingId");
      await lambda.send(new UpdateEventSourceMappingCommand({ UUID: id, Enabled: enabled }));
    },
  };
}
