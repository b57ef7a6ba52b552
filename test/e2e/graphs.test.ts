/** Whole graphs as the world makes them: each node once, and never before what it depends on. */
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { z } from "zod";
import { expectSucceeded, newRunId, openProvider, openStack } from "../support/deployment.ts";
import { graphPath, runWith } from "../unit/cli/program.ts";

const { client, end } = await openStack("main");
const provider = await openProvider();

/** All that fit one start; test/simulation runs the others in memory. */
const graphs = [
  "helloworld-chain-5-chameleon.json",
  "helloworld-forkjoin-10-chameleon.json",
  "srasearch-chameleon-10a-005.json",
  "1000genome-chameleon-2ch-100k-001.json",
];

const graphSchema = z.object({ nodes: z.array(z.object({ node_id: z.string(), depends_on: z.array(z.string()) })) });

it.each(graphs)("graph %s runs each node once, and none before what it depends on", async (name) => {
  const text = readFileSync(graphPath(name), "utf8");
  const { nodes } = graphSchema.parse(JSON.parse(text));
  const runId = newRunId();
  const args = ["submit", "-", "--run-id", runId, "--default-tool", "ledger"];
  expect(await runWith(client, text, args)).toMatchObject({ exitCode: 0 });
  expectSucceeded(await end(runId));

  const place = new Map(provider.callsOfRun(runId).map((call) => [call.nodeId, call.sequence]));
  expect(provider.callsOfRun(runId)).toHaveLength(nodes.length);
  expect(provider.effectsOfRun(runId)).toHaveLength(nodes.length);
  for (const { node_id, depends_on } of nodes) {
    for (const needed of depends_on) expect(place.get(needed)).toBeLessThan(place.get(node_id) ?? 0);
  }
});
