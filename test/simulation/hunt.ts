/** Looks for a schedule under which a mutant shows, and finds a known one again. */
import { everySingleFault, randomSchedule, singleFault, type Tried } from "./explore.ts";
import type { Mutant } from "./mutants.ts";
import { scenarioNamed, scenarios } from "./scenarios.ts";

export type Hunt = {
  /** Name of the schedule, by which it can be replayed. */
  readonly caughtBy: string | undefined;
  readonly invariant: string | undefined;
};

const nothing: Hunt = { caughtBy: undefined, invariant: undefined };

function verdictOf({ name, verdict }: Tried): Hunt {
  const first = verdict.violations[0];
  return first === undefined ? nothing : { caughtBy: name, invariant: `${first.invariant}: ${first.what}` };
}

/** Some random schedules, every single fault, then the rest of the random ones; only where the mutant can show at all. */
export async function hunt(mutant: Mutant, randomSchedules: number): Promise<Hunt> {
  for await (const tried of schedulesFor(mutant, randomSchedules)) {
    const caught = verdictOf(tried);
    if (caught.caughtBy !== undefined) return caught;
  }
  return nothing;
}

async function* schedulesFor(
  { sabotage, scenarios: makers = scenarios }: Mutant,
  count: number,
): AsyncGenerator<Tried> {
  const random = async function* (from: number, until: number): AsyncGenerator<Tried> {
    for (let seed = from; seed < until; seed++)
      yield await randomSchedule(seed, makers[seed % makers.length], sabotage);
  };
  const first = Math.ceil(count / 5);
  yield* random(0, first);
  for (const scenario of makers) yield* everySingleFault(scenario, sabotage);
  yield* random(first, count);
}

/** @param schedule a name as `hunt` gives it. */
export async function replay({ sabotage }: Mutant, schedule: string): Promise<Hunt> {
  const [, seed, seeded] = /^seed (\d+) \((.+)\)$/.exec(schedule) ?? [];
  if (seed !== undefined && seeded !== undefined) {
    return verdictOf(await randomSchedule(Number(seed), scenarioNamed(seeded), sabotage));
  }
  const [, scenario, index, kind] = /^(\S+) (\d+):(\w+)$/.exec(schedule) ?? [];
  if (scenario === undefined || index === undefined || kind === undefined) return nothing;
  const tried = await singleFault(scenarioNamed(scenario), Number(index), kind, sabotage);
  return tried === undefined ? nothing : verdictOf(tried);
}
