/** The graphs that are measured. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";

export type BenchNode = { readonly node_id: string; readonly depends_on: readonly string[] };
export type BenchGraph = {
  readonly name: string;
  readonly nodes: readonly BenchNode[];
  /** Made outside a start, as it does not fit one: counted in memory only. */
  readonly inParts: boolean;
};

const fileSchema = z.object({ nodes: z.array(z.object({ node_id: z.string(), depends_on: z.array(z.string()) })) });
const montageFile = join(import.meta.dirname, "..", "..", "graphs", "montage-chameleon-2mass-015d-001.json");

const numbered = (prefix: string, count: number): readonly string[] =>
  Array.from({ length: count }, (_, place) => `${prefix}-${place + 1}`);

function chainOf(length: number): BenchGraph {
  const ids = numbered("step", length);
  const nodes = ids.map((node_id, place) => ({ node_id, depends_on: ids.slice(Math.max(0, place - 1), place) }));
  return { name: `chain ${length}`, nodes, inParts: false };
}

function fanOf(width: number): BenchGraph {
  const leaves = numbered("leaf", width);
  return {
    name: `fan-out/join ${width}`,
    nodes: [
      { node_id: "root", depends_on: [] },
      ...leaves.map((node_id) => ({ node_id, depends_on: ["root"] })),
      { node_id: "join", depends_on: leaves },
    ],
    inParts: false,
  };
}

export const chain = chainOf(10);
export const fan = fanOf(50);
/** 310 tasks of an astronomer's mosaic, from a real execution. */
export const montage: BenchGraph = {
  name: "montage",
  nodes: fileSchema.parse(JSON.parse(readFileSync(montageFile, "utf8"))).nodes,
  inParts: true,
};

export const graphs: readonly BenchGraph[] = [chain, fan, montage];

/** As a command carries it. */
export const startOf = (graph: BenchGraph, runId: string, tool: string) => ({
  type: "start_run" as const,
  run_id: runId,
  nodes: graph.nodes.map((node) => ({ ...node, tool, input: {} })),
});
