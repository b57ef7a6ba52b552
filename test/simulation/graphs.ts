/** The graphs of real workflows as scenarios, and random schedules for them. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { seeded } from "../../testing/seeded.ts";
import { type Case, caseOf } from "./explore.ts";
import { runId, type Scenario } from "./scenarios.ts";

const folder = join(import.meta.dirname, "..", "graphs");
const fileSchema = z.object({ nodes: z.array(z.object({ node_id: z.string(), depends_on: z.array(z.string()) })) });

/** By name of file, smallest first. Every third node only reads; the others act. */
export const graphs: readonly Scenario[] = readdirSync(folder)
  .filter((name) => name.endsWith(".json"))
  .map((name): Scenario => {
    const { nodes } = fileSchema.parse(JSON.parse(readFileSync(join(folder, name), "utf8")));
    return {
      name,
      nodes: nodes.map((node, index) => ({ ...node, tool: index % 3 === 2 ? "read" : "act", input: {} })),
    };
  })
  .sort((left, right) => left.nodes.length - right.nodes.length);

/** As a command would ask for it. */
export const startOf = ({ nodes }: Scenario) => ({ type: "start_run", command_id: "start", run_id: runId, nodes });

/** One seed decides weather and faults. There are more faults than for small runs, each call being as likely to meet one. */
export function graphCase(seed: number, scenario: Scenario): Case {
  const { weather } = caseOf(seed, scenario);
  const random = seeded(seed ^ 0x165667b1);
  // I8: without a scanner no record may be lost, and one that advances a hundred nodes makes two hundred calls to do it.
  const scannerComesBack = !(weather.off.includes("scanner") && weather.offUntilMs === Number.POSITIVE_INFINITY);
  const probability = scannerComesBack ? random.pick([0.003, 0.02, 0.06]) : 0.002;
  return {
    scenario,
    seed,
    weather,
    faults: { are: "random", probability, budget: 5 + Math.floor(scenario.nodes.length / 2) },
  };
}
