/** The run that all cases kill: a node, two that wait for it, and one that waits for both. Each calls the provider's ledger. */
import { randomUUID } from "node:crypto";
import type { Ended } from "../chaos/verdict.ts";
import { everySingleFault } from "../simulation/explore.ts";
import { scenarioNamed } from "../simulation/scenarios.ts";

const tool = "ledger";
export const diamond = [
  { nodeId: "a", tool },
  { nodeId: "b", tool, dependsOn: ["a"] },
  { nodeId: "c", tool, dependsOn: ["a"] },
  { nodeId: "d", tool, dependsOn: ["b", "c"] },
];

/** Of one length and of no special characters, so that no run's id is a part of another call's text. */
export const newRunId = (): string => `kill-${randomUUID()}`;

/** How a run ended, of which the simulation tells every possible one: `SUCCEEDED`, and for nodes `SUCCEEDED/1/done`. */
export type PossibleEnds = { readonly runs: ReadonlySet<string>; readonly nodes: ReadonlySet<string> };

/** From every single crash of the same graph in the simulation. */
export async function simulatedEnds(): Promise<PossibleEnds> {
  const runs = new Set<string>();
  const nodes = new Set<string>();
  for await (const { name, verdict } of everySingleFault(scenarioNamed("diamond"))) {
    if (!name.includes(":crash_")) continue;
    if (verdict.status !== undefined) runs.add(verdict.status);
    for (const state of verdict.states) if (/^[A-Z]+\/\d+\/.+/.test(state)) nodes.add(state);
  }
  return { runs, nodes };
}

/** @returns what of this end the simulation has never seen. */
export const otherThanSimulated = ({ run, nodes }: Ended, possible: PossibleEnds): readonly string[] => [
  ...(possible.runs.has(run.status) ? [] : [`the run ended ${run.status}, in the simulation never`]),
  ...nodes
    .map((node) => ({ id: node.node_id, end: `${node.status}/${node.epoch}/${node.effect ?? ""}` }))
    .filter(({ end }) => !possible.nodes.has(end))
    .map(({ id, end }) => `node ${id} ended ${end}, in the simulation never`),
];
