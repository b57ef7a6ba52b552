/**
 * npm run simulate -- --seeds N [--from S] [--scenario X] [--pairs]
 * Random schedules from seed S on; with --pairs every pair of crashes of the scenario, or of all of them.
 */
import { parseArgs } from "node:util";
import { noCoverage, report } from "./coverage.ts";
import { everyPairOfCrashes, randomSchedule } from "./explore.ts";
import { judge } from "./judge.ts";
import { scenarioNamed, scenarios } from "./scenarios.ts";

const { values } = parseArgs({
  options: {
    seeds: { type: "string", default: "1000" },
    from: { type: "string", default: "1" },
    scenario: { type: "string" },
    pairs: { type: "boolean", default: false },
  },
});

function wholeNumber(name: "seeds" | "from"): number {
  const value = Number(values[name]);
  if (!Number.isSafeInteger(value) || value < 0)
    throw new Error(`--${name} must be a whole number, got ${values[name]}`);
  return value;
}

async function main(): Promise<void> {
  const only = values.scenario === undefined ? undefined : scenarioNamed(values.scenario);
  const coverage = noCoverage();
  const startedAtMs = performance.now();
  if (values.pairs) {
    for (const scenario of only === undefined ? scenarios : [only]) {
      const before = coverage.schedules;
      for await (const tried of everyPairOfCrashes(scenario)) await judge(tried, coverage);
      console.log(`${scenario.name}: ${coverage.schedules - before} pairs of crashes`);
    }
  } else {
    const from = wholeNumber("from");
    for (let seed = from; seed < from + wholeNumber("seeds"); seed++)
      await judge(await randomSchedule(seed, only), coverage);
  }
  console.log(report(coverage));
  console.log(`took ${((performance.now() - startedAtMs) / 1_000).toFixed(1)} s`);
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
