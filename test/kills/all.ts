/** npm run test:kills: every function killed before and after each of its calls, on the deployed stack. Prints a table. */
import { parseArgs } from "node:util";
import { simulatedEnds } from "./diamond.ts";
import { everyCase, killAll, openKillStage } from "./kill-all.ts";
import type { KillResult } from "./kill-case.ts";

const { values } = parseArgs({ options: { only: { type: "string" }, log: { type: "string" } } });

const columns = (result: KillResult): readonly string[] => [
  result.of,
  `${result.name}${result.nth === 1 ? "" : ` (${result.nth})`}`,
  result.when,
  result.repairedBy,
  `${(result.tookMs / 1_000).toFixed(1)} s`,
  result.faults.length === 0 ? "ok" : result.faults.join("; "),
];

function table(results: readonly KillResult[]): string {
  const rows = [["function", "killed at", "when", "repaired by", "after", "outcome"], ...results.map(columns)];
  const widths = [0, 1, 2, 3, 4].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  ")).join("\n");
}

async function main(): Promise<void> {
  const startedAtMs = performance.now();
  const possible = await simulatedEnds();
  const stage = await openKillStage(values.log);
  try {
    const all = await everyCase(stage);
    const cases = all.filter(({ of, name }) => values.only === undefined || `${of} ${name}`.includes(values.only));
    process.stderr.write(`${cases.length} cases of ${all.length}\n`);
    let done = 0;
    const results = await killAll(stage, cases, possible, (result) => {
      done += 1;
      if (result.faults.length > 0) process.stderr.write(`${columns(result).join("  ")}\n`);
      else if (done % 10 === 0) process.stderr.write(`${done} of ${cases.length}\n`);
    });
    const failed = results.filter(({ faults }) => faults.length > 0).length;
    const tookS = (performance.now() - startedAtMs) / 1_000;
    console.log(table(results));
    console.log(`${results.length} cases, ${failed} failed, took ${tookS.toFixed(0)} s`);
    if (failed > 0 || results.length === 0) process.exitCode = 1;
  } finally {
    await stage.stop();
  }
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.stack : error);
  process.exitCode = 1;
});
