/** One real graph while random workers are killed; `npm run chaos` runs all that fit. */
import { afterAll, expect, it } from "vitest";
import { openGraphStage, runGraph } from "./graphs.ts";

const stage = await openGraphStage();
afterAll(() => stage.stop());

it("a fork and join of ten nodes ends with each effect once and in order while three workers are killed at random", async () => {
  const [stack] = stage.stacks;
  if (stack === undefined) throw new Error("the stage has no stack");
  const name = "helloworld-forkjoin-10-chameleon";
  const report = await runGraph(stack, {
    name,
    seed: 1,
    killEveryMs: 1_200,
    atMostKills: 3,
    slowestMs: 1_500,
    timeoutMs: 90_000,
  });
  expect(report).toMatchObject({ faults: [], nodes: 10, effects: 10 });
  expect(report.kills).toBeGreaterThan(0);
});
