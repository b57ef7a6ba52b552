/** Counts each graph in memory and, where it fits one start, on the local AWS. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Deployment } from "./deployment.ts";
import { invokedSince } from "./function-logs.ts";
import { type BenchGraph, graphs } from "./graphs.ts";
import { type CountedRun, countInMemory } from "./in-memory.ts";
import { type FunctionName, noTallies, type Tallies } from "./tally.ts";

export type CountedGraph = CountedRun & {
  /** As the local AWS saw the same graph; missing for one that does not fit a start. */
  readonly deployed?: { readonly tallies: Tallies; readonly ownLogBytes: Readonly<Record<FunctionName, number>> };
};
export type Counts = { readonly graphs: readonly CountedGraph[] };

/** After a run's end its last messages and records are still on their way. */
const settleMs = 3_000;

export async function measureCounts(deployment: Deployment): Promise<Counts> {
  const counted: CountedGraph[] = [];
  for (const graph of graphs) {
    const inMemory = await countInMemory(graph);
    counted.push(graph.inParts ? inMemory : { ...inMemory, deployed: await countDeployed(deployment, graph) });
  }
  return { graphs: counted };
}

async function countDeployed(
  deployment: Deployment,
  graph: BenchGraph,
): Promise<NonNullable<CountedGraph["deployed"]>> {
  const { proxied, proxies } = deployment;
  for (const proxy of Object.values(proxies)) proxy.reset();
  const sinceMs = Date.now();
  await proxied.run(graph, "noop");
  await sleep(settleMs);
  const tallies = noTallies();
  const ownLogBytes = { commands: 0, relay: 0, worker: 0, scanner: 0 };
  // The scanner's rule is off.
  for (const name of ["commands", "relay", "worker"] as const) {
    const invoked = await invokedSince(proxied, name, sinceMs);
    tallies[name] = { ...proxies[name].tally(), invocations: invoked.invocations };
    ownLogBytes[name] = invoked.ownLogBytes;
  }
  return { tallies, ownLogBytes };
}
