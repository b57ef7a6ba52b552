/** One deployed stack in a test's hands: its faults, its runs, its queues. */
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { InvokeCommand, LambdaClient } from "@aws-sdk/client-lambda";
import { afterAll, afterEach, expect, inject } from "vitest";
import { z } from "zod";
import { localAwsEnv, localRegion } from "../../cli/local/local-env.ts";
import { type Client, clientOver, type NodeRequest, type StartRunRequest } from "../../client/client.ts";
import type { RunView } from "../../client/index.ts";
import { systemChance } from "../../shared/adapters/chance.ts";
import { systemClock } from "../../shared/adapters/clock.ts";
import { commandQueue, commandQueueClient } from "../../shared/adapters/command-queue.ts";
import { dynamoClient } from "../../shared/adapters/dynamo-client.ts";
import { dynamoTable } from "../../shared/adapters/dynamo-table.ts";
import { sqsClient } from "../../shared/adapters/sqs-client.ts";
import { commandKey, nodeKey } from "../../shared/keys.ts";
import { type CommandItem, commandItemSchema, type NodeItem, nodeItemSchema, readItem } from "../../shared/model.ts";
import type { Table } from "../../shared/ports.ts";
import { type Queues, queuesOf } from "./e2e-queues.ts";
import type { FunctionName, StackName, stackPlans } from "./e2e-stacks.ts";
import { type FaultProxy, type ProxiedCall, startFaultProxy } from "./fault-proxy.ts";
import { waitUntil } from "./processes.ts";

export { openProvider } from "./e2e-ledger.ts";
export { comesBackWithinMs, shortLimits } from "./e2e-stacks.ts";

type Proxies<Name extends StackName> = {
  readonly [Called in (typeof stackPlans)[Name]["proxied"][number]]: FaultProxy;
};

export type Stack<Name extends StackName> = Queues & {
  /** What the stack says of its pools, by name. */
  readonly pools: z.infer<typeof poolsSchema>;
  readonly client: Client;
  /** As the functions have it: strong reads. */
  readonly table: Table;
  /** One for each function whose calls can be struck: it tells who calls. */
  readonly proxies: Proxies<Name>;
  /** What a program in an environment of its own needs to find AWS and this stack. */
  readonly environment: Readonly<Record<string, string>>;
  /** Resolves once the start is accepted. */
  start(runId: string, nodes: readonly NodeRequest[], more?: Partial<StartRunRequest>): Promise<void>;
  /** The run as it ended. */
  end(runId: string): Promise<RunView>;
  node(runId: string, nodeId: string): Promise<NodeItem>;
  /** The deployment's answer to a command, once there is one. */
  answer(commandId: string): Promise<CommandItem>;
  /** Invokes the scanner again and again, as the rule does, but without its pauses. */
  scanUntilEnded(runId: string): Promise<RunView>;
  /** Invokes a function with an event of the test's own. @throws when the function did. */
  invoke(called: FunctionName, event: unknown): Promise<unknown>;
};

const poolsSchema = z.record(z.string(), z.object({ queueUrl: z.string(), functionName: z.string() }));

export const newRunId = (): string => `run-${randomUUID()}`;

const answeredWithinMs = 20_000;
const endedWithinMs = 60_000;
const scanPauseMs = 500;
const drainedWithinMs = 30_000;

/**
 * To be called at the top of a test file. After each test every fault is lifted and the queues must run empty; with the
 * file the proxies end.
 */
export async function openStack<Name extends StackName>(name: Name): Promise<Stack<Name>> {
  const { endpoint, outputs, stackNames, ports } = inject("e2e");
  const output = (key: string): string => {
    const value = outputs[name][key];
    if (value === undefined) throw new Error(`stack ${name} has no output ${key}`);
    return value;
  };
  const proxies = new Map<string, FaultProxy>();
  for (const [called, port] of Object.entries(ports.proxies[name]))
    proxies.set(called, await startFaultProxy({ target: endpoint, port }));
  const where = { endpoint, region: localRegion, credentials: { accessKeyId: "test", secretAccessKey: "test" } };
  const lambda = new LambdaClient(where);
  const pools = poolsSchema.parse(JSON.parse(outputs[name].Pools ?? "{}"));
  const pooled = Object.values(pools).map(({ queueUrl }) => queueUrl);
  const queues = await queuesOf(sqsClient(where), output, pooled);
  const table = dynamoTable({ client: dynamoClient(where), tableName: output("TableName") });
  const send = commandQueue({ client: commandQueueClient(where), queueUrl: output("CommandsQueueUrl") });
  const client = clientOver({ table, send, clock: systemClock, newId: systemChance.id });
  const call = (called: FunctionName, event: unknown): Promise<unknown> =>
    invoke(lambda, output(`${called[0]?.toUpperCase()}${called.slice(1)}FunctionName`), event);

  afterEach(async () => {
    for (const proxy of proxies.values()) await proxy.reset();
    await waitUntil(async () => (await queues.depth()) === 0, drainedWithinMs, `the queues of ${name} to be empty`);
  }, drainedWithinMs + 5_000);
  afterAll(async () => {
    for (const proxy of proxies.values()) await proxy.stop();
  });

  return {
    ...queues,
    pools,
    client,
    table,
    proxies: Object.fromEntries(proxies) as Proxies<Name>,
    environment: environmentOf(endpoint, stackNames[name]),
    start: async (runId, nodes, more = {}) => {
      const handle = await client.startRun({ runId, nodes, ...more });
      await handle.accepted({ timeoutMs: answeredWithinMs });
    },
    end: (runId) => client.waitForRun(runId, { timeoutMs: endedWithinMs }),
    node: async (runId, nodeId) => readItem(nodeItemSchema, await table.get(nodeKey(runId, nodeId))),
    answer: (commandId) => {
      const look = async () => {
        const found = await table.get(commandKey(commandId));
        return found && readItem(commandItemSchema, found);
      };
      return waitUntil(look, answeredWithinMs, `an answer to command ${commandId}`);
    },
    scanUntilEnded: (runId) => {
      const pass = async () => {
        await call("scanner", {});
        await sleep(scanPauseMs);
        const run = await client.getRun(runId);
        return run?.ended && run;
      };
      return waitUntil(pass, endedWithinMs, `the scanner to end run ${runId}`);
    },
    invoke: call,
  };
}

const environmentOf = (endpoint: string, stackName: string) => ({
  ...localAwsEnv(endpoint),
  LEASEHOLD_STACK: stackName,
});

async function invoke(lambda: LambdaClient, functionName: string, event: unknown): Promise<unknown> {
  const answer = await lambda.send(new InvokeCommand({ FunctionName: functionName, Payload: JSON.stringify(event) }));
  const payload = Buffer.from(answer.Payload ?? []).toString("utf8");
  if (answer.FunctionError !== undefined) throw new Error(`${functionName} failed: ${payload}`);
  return JSON.parse(payload);
}

/** Whether a worker's call claims this node; a heartbeat knows nothing of attempts. */
export const isClaim =
  (runId: string, nodeId: string) =>
  (call: ProxiedCall): boolean =>
    call.action === "UpdateItem" &&
    ["max_attempts", `RUN#${runId}`, `NODE#${nodeId}`].every((part) => call.text.includes(JSON.stringify(part)));

/** The claims of a node that a worker's proxy saw, granted or refused. */
export const claimsOf = (proxy: FaultProxy, runId: string, nodeId: string): readonly ProxiedCall[] =>
  proxy.calls.filter(isClaim(runId, nodeId));

export const statusesOf = (run: RunView): Readonly<Record<string, string>> => ({
  run: run.status,
  ...Object.fromEntries(run.nodes.map((node) => [node.nodeId, node.status])),
});

export const expectSucceeded = (run: RunView): void => {
  const all = ["run", ...run.nodes.map((node) => node.nodeId)];
  expect(statusesOf(run)).toEqual(Object.fromEntries(all.map((one) => [one, "SUCCEEDED"])));
};
