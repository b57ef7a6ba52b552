import { expect, it } from "vitest";
import { noCoverage, report } from "./coverage.ts";
import { everySingleFault } from "./explore.ts";
import { judge } from "./judge.ts";
import { scenarios } from "./scenarios.ts";

const coverage = noCoverage();

it.each(scenarios)(
  "$name: whatever single fault strikes at whatever call, every invariant holds and the run ends",
  async (scenario) => {
    for await (const tried of everySingleFault(scenario)) await judge(tried, coverage);
  },
);

it("every scenario met a fault of every kind at its functions' ports", () => {
  console.log(report(coverage));
  expect(coverage.schedules).toBeGreaterThan(3_000);
});
