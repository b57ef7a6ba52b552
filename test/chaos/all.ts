/** npm run chaos -- [--seed N] [--every MS] [--graph NAME]: the real graphs that fit, each while random workers are killed. */
import { parseArgs } from "node:util";
import { fittingGraphs, openGraphStage, runGraph } from "./graphs.ts";

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: "1" },
    every: { type: "string", default: "2500" },
    graph: { type: "string" },
  },
});

function wholeNumber(name: "seed" | "every"): number {
  const value = Number(values[name]);
  if (!Number.isSafeInteger(value) || value < 1) throw new Error(`--${name} must be a whole number from 1 on`);
  return value;
}

async function main(): Promise<void> {
  const graphs = fittingGraphs.filter((name) => values.graph === undefined || name.includes(values.graph));
  if (graphs.length === 0) throw new Error(`--graph must be part of one of ${fittingGraphs.join(", ")}`);
  const stage = await openGraphStage();
  try {
    const [stack] = stage.stacks;
    if (stack === undefined) throw new Error("the stage has no stack");
    for (const [place, name] of graphs.entries()) {
      const report = await runGraph(stack, {
        name,
        seed: wholeNumber("seed") + place,
        killEveryMs: wholeNumber("every"),
        slowestMs: 2_000,
        timeoutMs: 300_000,
      });
      const { nodes, kills, calls, effects, takeOvers, tookMs, faults } = report;
      console.log(
        `${name}: ${nodes} nodes, ${kills} workers killed, ${calls} calls, ${effects} effects, ${takeOvers} taken over, ${(tookMs / 1_000).toFixed(1)} s: ${faults.length === 0 ? "ok" : faults.join("; ")}`,
      );
      if (faults.length > 0) process.exitCode = 1;
    }
  } finally {
    await stage.stop();
  }
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.stack : error);
  process.exitCode = 1;
});
