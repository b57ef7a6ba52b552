/** Whole graphs as the world makes them, on a local AWS, while random workers are killed. */
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import type { NodeRequest } from "../../client/client.ts";
import { projectRoot } from "../../infra/package-root.ts";
import { seeded } from "../../testing/seeded.ts";
import { waitUntil } from "../support/processes.ts";
import { startKilling } from "./killing.ts";
import { openStage, type Stage, type StagedStack } from "./stage.ts";
import { ledgersOf, readEnded, verdictOn } from "./verdict.ts";

/** Those whose start fits one transaction, the smallest first; soykb's 96 nodes need 104 items. */
export const fittingGraphs = [
  "helloworld-chain-5-chameleon",
  "helloworld-forkjoin-10-chameleon",
  "srasearch-chameleon-10a-005",
  "1000genome-chameleon-2ch-100k-001",
] as const;

const graphSchema = z.object({ nodes: z.array(z.object({ node_id: z.string(), depends_on: z.array(z.string()) })) });

/** Attempts without end: what is killed at random is no tool's fault. */
export const openGraphStage = (): Promise<Stage> =>
  openStage([{ name: "graphs", proxied: [], limits: { attempts: 50 }, disabled: { scanRule: true } }]);

export type GraphOptions = {
  readonly name: string;
  readonly seed: number;
  readonly killEveryMs: number;
  /** @default no end */
  readonly atMostKills?: number;
  /** Longest that a node takes. */
  readonly slowestMs: number;
  readonly timeoutMs: number;
};

export type GraphReport = {
  readonly name: string;
  readonly nodes: number;
  readonly kills: number;
  readonly calls: number;
  readonly effects: number;
  /** Claims of nodes that an earlier attempt had left. */
  readonly takeOvers: number;
  readonly tookMs: number;
  readonly faults: readonly string[];
};

export async function runGraph(stack: StagedStack, options: GraphOptions): Promise<GraphReport> {
  const random = seeded(options.seed);
  const text = readFileSync(join(projectRoot, "test", "graphs", `${options.name}.json`), "utf8");
  const nodes = graphSchema.parse(JSON.parse(text)).nodes.map(
    (node): NodeRequest => ({
      nodeId: node.node_id,
      dependsOn: node.depends_on,
      tool: "long",
      input: { ms: Math.floor(random.fraction() * options.slowestMs) },
    }),
  );
  const runId = `graph-${randomUUID()}`;
  const startedAtMs = Date.now();
  const command = await stack.client.startRun({ runId, nodes });
  await command.accepted({ timeoutMs: 30_000 });
  const killing = startKilling(stack, {
    of: ["worker"],
    everyMs: options.killEveryMs,
    random,
    ...(options.atMostKills === undefined ? {} : { atMost: options.atMostKills }),
  });
  const faults: string[] = [];
  const note = (error: unknown): void => void faults.push(error instanceof Error ? error.message : String(error));
  const run = await stack.client.waitForRun(runId, { timeoutMs: options.timeoutMs }).catch(note);
  const tookMs = Date.now() - startedAtMs;
  await killing.stop().catch(note);
  await waitUntil(async () => (await stack.depth()) === 0, 30_000, "the queues to be empty").catch(note);
  const ended = await readEnded(stack, runId, ledgersOf(stack.provider)(runId));
  faults.push(...verdictOn(stack, ended));
  if (run !== undefined && run.status !== "SUCCEEDED") faults.push(`the run ended ${run.status}`);
  const effects = [...ended.ledger.effects.values()].reduce((sum, count) => sum + count, 0);
  if (effects !== nodes.length) faults.push(`${effects} effects of ${nodes.length} nodes`);
  const kills = killing.killed.worker;
  const calls = ended.ledger.calls.length;
  if (calls > effects + kills) faults.push(`${calls} calls for ${effects} effects and ${kills} kills`);
  const takeOvers = ended.nodes.reduce((sum, { epoch }) => sum + epoch - 1, 0);
  return { name: options.name, nodes: nodes.length, kills, calls, effects, takeOvers, tookMs, faults };
}
