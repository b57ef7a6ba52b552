/** Real graphs under random faults and weather. */
import { expect, it } from "vitest";
import { noFaults } from "../../testing/faults.ts";
import { cover, noCoverage, report } from "./coverage.ts";
import { engine } from "./engine.ts";
import { runCase } from "./explore.ts";
import { graphCase, graphs, startOf } from "./graphs.ts";

const schedulesOfEach = 8;
const coverage = noCoverage();

/** A start holds the run, its answer and its entry beside its nodes; lists of dependents may need items of their own. */
const tooLarge: ReadonlySet<string> = new Set([
  "bwa-chameleon-small-003.json",
  "rnaseq-dirt02-001.json",
  "montage-chameleon-2mass-015d-001.json",
  "seismology-chameleon-400p-001.json",
]);

/** @returns why the start was refused, or undefined where it made a run. */
async function refusalOf(command: object): Promise<string | undefined> {
  const made = engine({ seed: 1, choose: noFaults });
  made.commands.put(JSON.stringify(command), 0);
  await made.run(() => made.commands.living().length === 0, 60_000);
  const runs = [...made.items()].filter((item) => item.kind === "run");
  const [refused] = made.rejected;
  expect(runs).toHaveLength(refused === undefined ? 1 : 0);
  return refused?.reason;
}

it("nine graphs, of which four are too large for one start", () => {
  expect(graphs).toHaveLength(9);
  expect(graphs.filter((graph) => tooLarge.has(graph.name))).toHaveLength(4);
});

it.each(graphs)("$name is started where it fits one transaction, else refused as too_many_nodes", async (graph) => {
  const reason = await refusalOf(startOf(graph));
  if (tooLarge.has(graph.name)) expect(reason).toContain('"too_many_nodes"');
  else expect(reason).toBeUndefined();
});

it.each(graphs)("$name under random faults and weather: every invariant holds and the run ends", async (graph) => {
  const scenario = tooLarge.has(graph.name) ? { ...graph, madeAtOnce: true } : graph;
  for (let seed = 1; seed <= schedulesOfEach; seed++) {
    const tried = graphCase(seed, scenario);
    const verdict = await runCase(tried);
    const name = `seed ${seed} of ${graph.name}`;
    cover(coverage, { name, tried, verdict });
    // Not made smaller: hundreds of faults would be taken away one by one.
    expect(verdict.violations.slice(0, 5), name).toEqual([]);
  }
});

it("most schedules met several faults, and runs ended well and badly", () => {
  console.log(report(coverage));
  expect(coverage.schedules).toBe(graphs.length * schedulesOfEach);
  expect(coverage.withTwoFaults).toBeGreaterThan(coverage.schedules / 2);
  expect(coverage.statuses.get("SUCCEEDED")).toBeGreaterThan(0);
  expect(coverage.statuses.get("FAILED")).toBeGreaterThan(0);
});
