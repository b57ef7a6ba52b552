/** How long a node waits, runs and hands on, on the local AWS; and beside it what one bare transaction takes there. */
import { setTimeout as sleep } from "node:timers/promises";
import { DeleteFunctionConcurrencyCommand, PutFunctionConcurrencyCommand } from "@aws-sdk/client-lambda";
import { TransactWriteCommand } from "@aws-sdk/lib-dynamodb";
import { emulatorTable } from "../../contract/emulator-table.ts";
import type { Deployed, Deployment } from "./deployment.ts";
import { invokedSince } from "./function-logs.ts";
import { type BenchGraph, chain, fan } from "./graphs.ts";
import { type Life, livesIn } from "./life-of-nodes.ts";
import { type Spread, spreadOf } from "./spread.ts";

export type Throughput = {
  readonly tool: "stamp" | "wait";
  readonly concurrentWorkers: number;
  readonly nodesPerSecond: Spread;
};
export type Times = {
  /** Two puts in one transaction, from this process, while nothing else goes on. In ms, as all below. */
  readonly bareTransaction: Spread;
  readonly chain: {
    readonly readyToClaimed: Spread;
    readonly claimedToTool: Spread;
    /** From a node's end to its dependent's tool. */
    readonly hop: Spread;
  };
  readonly throughput: readonly Throughput[];
  /** Of the chains, as the local AWS reports it; on AWS it is what is billed. */
  readonly workerInvocation: Spread;
};

const transactions = 100;
const chainRuns = 5;
const fanRuns = 3;
const settleMs = 2_000;
/** What the local AWS lets a mapping have at once when nothing else is said. */
const usualConcurrency = 5;

type Lives = ReadonlyMap<string, Life>;

const fans = [
  { tool: "stamp", concurrentWorkers: 1 },
  { tool: "stamp", concurrentWorkers: usualConcurrency },
  { tool: "wait", concurrentWorkers: 1 },
  { tool: "wait", concurrentWorkers: usualConcurrency },
] as const;

export async function measureTimes({ endpoint, plain }: Deployment): Promise<Times> {
  // Once, so that the functions' processes and connections are there.
  for (const graph of [chain, fan]) await settled(plain, graph, "stamp");
  const bare = await bareTransactions(endpoint);
  const sinceMs = Date.now();
  const chainIds: string[] = [];
  for (let run = 0; run < chainRuns; run++) chainIds.push(await settled(plain, chain, "stamp"));
  const { durationsMs } = await invokedSince(plain, "worker", sinceMs);
  const fanIds = fans.map((): string[] => []);
  // In turns, so that what disturbs one disturbs all.
  for (let run = 0; run < fanRuns; run++) {
    for (const [place, { tool, concurrentWorkers }] of fans.entries()) {
      const once = () => settled(plain, fan, tool);
      fanIds[place]?.push(await (concurrentWorkers === 1 ? atOneWorker(plain, once) : once()));
    }
  }
  bare.push(...(await bareTransactions(endpoint)));

  const lives = await livesIn(endpoint, plain.output("TableName"), [...chainIds, ...fanIds.flat()]);
  const of = (runIds: readonly string[]): readonly Lives[] => runIds.flatMap((runId) => lives.get(runId) ?? []);
  const chains = of(chainIds);
  const inChains = chains.flatMap((ofRun) => [...ofRun.values()]);
  return {
    bareTransaction: spreadOf(bare),
    chain: {
      readyToClaimed: spreadOf(inChains.map((life) => life.claimedAtMs - life.readyAtMs)),
      claimedToTool: spreadOf(inChains.map((life) => life.ranAtMs - life.claimedAtMs)),
      hop: spreadOf(chains.flatMap(hopsOf)),
    },
    throughput: fans.map((one, place) => ({
      ...one,
      nodesPerSecond: spreadOf(of(fanIds[place] ?? []).map(leavesPerSecond)),
    })),
    workerInvocation: spreadOf(durationsMs),
  };
}

/** Run to its end, and its last messages and records too. @returns the run's id. */
async function settled(deployed: Deployed, graph: BenchGraph, tool: Throughput["tool"]): Promise<string> {
  const runId = await deployed.run(graph, tool);
  await sleep(settleMs);
  return runId;
}

/** MaximumConcurrency is 2 at the least (services-sqs-scaling.html), so the function's own concurrency is bounded instead. */
async function atOneWorker<T>({ lambda, output }: Deployed, what: () => Promise<T>): Promise<T> {
  const FunctionName = output("WorkerFunctionName");
  await lambda.send(new PutFunctionConcurrencyCommand({ FunctionName, ReservedConcurrentExecutions: 1 }));
  try {
    return await what();
  } finally {
    await lambda.send(new DeleteFunctionConcurrencyCommand({ FunctionName }));
  }
}

const hopsOf = (lives: Lives): readonly number[] =>
  chain.nodes.flatMap(({ node_id, depends_on: [before] }) => {
    const [from, to] = [lives.get(before ?? ""), lives.get(node_id)];
    return from === undefined || to === undefined ? [] : [to.ranAtMs - from.endedAtMs];
  });

/** Of a fan: all between the root's end, which frees them, and the end of the last of them. */
function leavesPerSecond(lives: Lives): number {
  const root = lives.get("root");
  const leaves = [...lives].filter(([nodeId]) => nodeId.startsWith("leaf-")).map(([, life]) => life.endedAtMs);
  if (root === undefined || leaves.length === 0) throw new Error("the fan has no root or no leaves");
  return (leaves.length * 1_000) / (Math.max(...leaves) - root.endedAtMs);
}

async function bareTransactions(endpoint: string): Promise<number[]> {
  const { client, tableName: TableName } = await emulatorTable(endpoint);
  const tookMs: number[] = [];
  for (let place = 0; place < transactions; place++) {
    const put = (sk: string) => ({ Put: { TableName, Item: { pk: `bare-${place}`, sk, text: "x".repeat(500) } } });
    const startedAtMs = performance.now();
    await client.send(new TransactWriteCommand({ TransactItems: [put("a"), put("b")] }));
    tookMs.push(performance.now() - startedAtMs);
  }
  client.destroy();
  // The first one opens the connection.
  return tookMs.slice(1);
}
