/** All that has been measured as one page of Markdown. Pure. */
import type { Bundles } from "./bundles.ts";
import type { Counts } from "./counts.ts";
import type { InitTimes } from "./init-time.ts";
import { countsReport } from "./report-counts.ts";
import { moneyReport } from "./report-money.ts";
import { bundlesReport, initReport, timesReport } from "./report-times.ts";
import type { Times } from "./times.ts";

export const partNames = ["counts", "times", "bundle", "init"] as const;
export type PartName = (typeof partNames)[number];

export type Machine = {
  /** Day of the measurement. */
  readonly date: string;
  readonly cores: number;
  readonly node: string;
  readonly ministack: string;
};
type Part<Result> = { readonly machine: Machine; readonly result: Result };

/** What the JSON file holds: each part as it was measured last. */
export type Bench = {
  readonly counts?: Part<Counts>;
  readonly times?: Part<Times>;
  readonly bundle?: Part<Bundles>;
  readonly init?: Part<InitTimes>;
};

export const reportOf = ({ counts, times, bundle, init }: Bench): string =>
  [
    ...section("Counted", counts, countsReport),
    ...section("Computed from counts of", counts, moneyReport),
    ...section("Measured", times, timesReport),
    ...section("Weighed", bundle, bundlesReport),
    ...section("Measured", init, initReport),
  ].join("\n");

/** Title first, then where the numbers come from, then they. */
function section<Result>(how: string, part: Part<Result> | undefined, report: (result: Result) => string): string[] {
  if (part === undefined) return [];
  const { date, cores, node, ministack } = part.machine;
  const [title = "", ...rest] = report(part.result).split("\n");
  return [title, "", `${how} ${date}: ${cores} cores, Node ${node}, MiniStack ${ministack}.`, ...rest];
}
