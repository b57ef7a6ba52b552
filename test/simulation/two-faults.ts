import { type Coverage, noCoverage, notMet, report } from "./coverage.ts";
import { randomSchedule } from "./explore.ts";
import { judge } from "./judge.ts";

/** Random schedules from a seed on, until so many of them met two faults or more. @throws where one breaks an invariant. */
export async function schedulesWithTwoFaults({
  from,
  count,
}: {
  readonly from: number;
  readonly count: number;
}): Promise<Coverage> {
  const coverage = noCoverage();
  for (let seed = from; coverage.withTwoFaults < count; seed++) await judge(await randomSchedule(seed), coverage);
  console.log(report(coverage));
  const missing = notMet(coverage);
  if (missing.length > 0) throw new Error(`no schedule met ${missing.join(", ")}`);
  return coverage;
}
