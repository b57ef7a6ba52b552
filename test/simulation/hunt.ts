/** Looks for a schedule under which a mutant shows. */
import type { Sabotage } from "./engine.ts";
import { everySingleFault, randomSchedule, type Tried } from "./explore.ts";
import { scenarios } from "./scenarios.ts";

export type Hunt = {
  readonly caughtBy: string | undefined;
  readonly invariant: string | undefined;
  readonly schedules: number;
};

/** Every single fault first, then random schedules; a schedule that cannot go on at all counts as caught too. */
export async function hunt(sabotage: Sabotage, randomSchedules: number): Promise<Hunt> {
  let schedules = 0;
  for await (const tried of schedulesFor(sabotage, randomSchedules)) {
    schedules += 1;
    const first = tried.verdict.violations[0];
    if (first !== undefined) return { caughtBy: tried.name, invariant: `${first.invariant}: ${first.what}`, schedules };
  }
  return { caughtBy: undefined, invariant: undefined, schedules };
}

async function* schedulesFor(sabotage: Sabotage, randomSchedules: number): AsyncGenerator<Tried> {
  for (let seed = 1; seed <= Math.ceil(randomSchedules / 10); seed++)
    yield await randomSchedule(seed, undefined, sabotage);
  for (const scenario of scenarios) yield* everySingleFault(scenario, sabotage);
  for (let seed = Math.ceil(randomSchedules / 10) + 1; seed <= randomSchedules; seed++)
    yield await randomSchedule(seed, undefined, sabotage);
}
