/** Leasehold on a local AWS, as the bench uses it: two stacks, one of whose functions speak through counting proxies. */
import { join } from "node:path";
import { LambdaClient } from "@aws-sdk/client-lambda";
import { deploy } from "../../../cli/local/deploy.ts";
import { localRegion } from "../../../cli/local/local-env.ts";
import { startMinistack } from "../../../cli/local/ministack.ts";
import { projectRoot, workspace } from "../../../cli/local/workspace.ts";
import { type Client, clientOver } from "../../../client/client.ts";
import { systemChance } from "../../../shared/adapters/chance.ts";
import { systemClock } from "../../../shared/adapters/clock.ts";
import { commandQueue, commandQueueClient } from "../../../shared/adapters/command-queue.ts";
import { dynamoClient } from "../../../shared/adapters/dynamo-client.ts";
import { dynamoTable } from "../../../shared/adapters/dynamo-table.ts";
import type { TestStack } from "../../support/app.ts";
import { type CountingProxy, startCountingProxy } from "./counting-proxy.ts";
import { type BenchGraph, startOf } from "./graphs.ts";
import { type FunctionName, functionNames } from "./tally.ts";

export type Deployed = {
  readonly endpoint: string;
  readonly client: Client;
  readonly lambda: LambdaClient;
  output(name: string): string;
  /** Starts the graph and waits for its end. @returns the run's id. */
  run(graph: BenchGraph, tool: string): Promise<string>;
};

export type Deployment = {
  readonly endpoint: string;
  /** Its functions call the local AWS directly. */
  readonly plain: Deployed;
  /** Its functions call by way of the proxies. */
  readonly proxied: Deployed;
  readonly proxies: Readonly<Record<FunctionName, CountingProxy>>;
  stop(): Promise<void>;
};

const plainStack = "BenchPlain";
const proxiedStack = "BenchProxied";
const acceptedWithinMs = 60_000;
const endedWithinMs = 120_000;

export async function deployBench(): Promise<Deployment> {
  const local = await startMinistack({ log: join(workspace, "bench.log") });
  const { endpoint } = local;
  const proxies = await proxiesTo(endpoint);
  const stop = async (): Promise<void> => {
    await local.stop();
    for (const proxy of Object.values(proxies)) await proxy.stop();
  };
  try {
    const endpoints = Object.fromEntries(
      functionNames.map((name) => [name, { dynamodb: proxies[name].url, sqs: proxies[name].url }]),
    );
    const stacks = [stackOf(plainStack), { ...stackOf(proxiedStack), endpoints }];
    const outputs = await deploy({
      endpoint,
      app: "node --import tsx test/support/app.ts",
      env: { LEASEHOLD_TEST_STACKS: JSON.stringify(stacks) },
      quiet: true,
    });
    const deployed = (stack: string) => deployedOf(endpoint, stack, outputs[stack] ?? {});
    return { endpoint, plain: deployed(plainStack), proxied: deployed(proxiedStack), proxies, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Default limits, as they would be deployed; the scanner's rule is off, so that no look of its own falls into a measurement. */
const stackOf = (name: string): TestStack => ({
  name,
  namespace: name,
  tools: join(projectRoot, "test", "bench", "report", "tools.ts"),
  disabled: { scanRule: true },
});

async function proxiesTo(endpoint: string): Promise<Readonly<Record<FunctionName, CountingProxy>>> {
  const [commands, relay, worker, scanner] = await Promise.all([
    startCountingProxy(endpoint),
    startCountingProxy(endpoint),
    startCountingProxy(endpoint),
    startCountingProxy(endpoint),
  ]);
  return { commands, relay, worker, scanner };
}

function deployedOf(endpoint: string, stack: string, outputs: Readonly<Record<string, string>>): Deployed {
  const output = (name: string): string => {
    const value = outputs[name];
    if (value === undefined) throw new Error(`stack ${stack} has no output ${name}`);
    return value;
  };
  const where = { endpoint, region: localRegion, credentials: { accessKeyId: "test", secretAccessKey: "test" } };
  const table = dynamoTable({ client: dynamoClient(where), tableName: output("TableName") });
  const send = commandQueue({ client: commandQueueClient(where), queueUrl: output("CommandsQueueUrl") });
  const client = clientOver({ table, send, clock: systemClock, newId: systemChance.id });
  return {
    endpoint,
    client,
    lambda: new LambdaClient(where),
    output,
    run: async (graph, tool) => {
      const runId = `bench-${systemChance.id()}`;
      const nodes = startOf(graph, runId, tool).nodes.map((node) => ({
        nodeId: node.node_id,
        tool: node.tool,
        dependsOn: node.depends_on,
      }));
      const started = await client.startRun({ runId, nodes });
      await started.accepted({ timeoutMs: acceptedWithinMs });
      const { status } = await client.waitForRun(runId, { timeoutMs: endedWithinMs });
      if (status !== "SUCCEEDED") throw new Error(`run ${runId} of ${graph.name} is ${status}`);
      return runId;
    },
  };
}
