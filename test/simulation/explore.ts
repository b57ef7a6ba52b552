/** Which schedules are tried: every single fault, every pair of crashes, and random ones by seed. */

import { startMs } from "../../testing/engine.ts";
import { type Fault, type FaultKind, kindsAt, noFaults, planned, randomFaults } from "../../testing/faults.ts";
import { seeded } from "../../testing/seeded.ts";
import type { Sabotage } from "./engine.ts";
import { type Scenario, scenarios } from "./scenarios.ts";
import { runSchedule, type Verdict } from "./schedule.ts";
import { calm, randomWeather, type WeatherPlan, weatherOf } from "./weather.ts";

/** A schedule as data: the same case always gives the same verdict. */
export type Case = {
  readonly scenario: Scenario;
  readonly seed: number;
  readonly weather: WeatherPlan;
  readonly faults:
    | { readonly are: "planned"; readonly plan: ReadonlyMap<number, Fault> }
    | { readonly are: "random"; readonly probability: number; readonly budget: number };
};

export type Tried = { readonly name: string; readonly tried: Case; readonly verdict: Verdict };

/** A write can meet every kind. */
const allKinds = kindsAt.write;
const crashes: readonly FaultKind[] = ["crash_before", "crash_after"];
/** A pause outlives the lease and the take-over; a delay outlives only the other calls. */
const faultOf = (kind: FaultKind): Fault => ({ kind, ms: kind === "pause" || kind === "stall" ? 45_000 : 4_000 });
/** A fault moves the calls after it: a pair's second one may come later than any call of the undisturbed schedule. */
const laterCalls = 25;

export function runCase({ scenario, seed, weather, faults }: Case, sabotage?: Sabotage): Promise<Verdict> {
  // Streams of their own, so that a case with one fault less still meets the same weather.
  const choose =
    faults.are === "planned"
      ? planned(faults.plan)
      : randomFaults(seeded(seed ^ 0x5bd1e995), faults.probability, faults.budget);
  const isCalm = weather === calm;
  return runSchedule({
    scenario,
    seed,
    choose,
    ...(isCalm ? {} : { weather: weatherOf(weather, seeded(seed ^ 0x27d4eb2f), startMs) }),
    ...(sabotage === undefined ? {} : { sabotage }),
  });
}

const plannedCase = (scenario: Scenario, plan: ReadonlyMap<number, Fault>): Case => ({
  scenario,
  seed: 1,
  weather: calm,
  faults: { are: "planned", plan },
});

const callsOf = async (scenario: Scenario, sabotage?: Sabotage): Promise<number> =>
  (await runSchedule({ scenario, seed: 1, choose: noFaults, ...(sabotage === undefined ? {} : { sabotage }) })).calls;

export async function* everySingleFault(scenario: Scenario, sabotage?: Sabotage): AsyncGenerator<Tried> {
  const calls = await callsOf(scenario, sabotage);
  for (let index = 0; index < calls; index++) {
    for (const kind of allKinds) {
      const tried = plannedCase(scenario, new Map([[index, faultOf(kind)]]));
      const verdict = await runCase(tried, sabotage);
      if (verdict.struck.length > 0) yield { name: `${scenario.name} ${index}:${kind}`, tried, verdict };
    }
  }
}

/** One of them, by the number of its call; undefined where that kind makes no sense at that call. */
export async function singleFault(
  scenario: Scenario,
  index: number,
  kind: string,
  sabotage?: Sabotage,
): Promise<Tried | undefined> {
  const known = allKinds.find((each) => each === kind);
  if (known === undefined) return undefined;
  const tried = plannedCase(scenario, new Map([[index, faultOf(known)]]));
  const verdict = await runCase(tried, sabotage);
  return verdict.struck.length === 0 ? undefined : { name: `${scenario.name} ${index}:${kind}`, tried, verdict };
}

export async function* everyPairOfCrashes(scenario: Scenario): AsyncGenerator<Tried> {
  const calls = await callsOf(scenario);
  for (let first = 0; first < calls; first++) {
    for (const kind of crashes) {
      for (let second = first + 1; second < calls + laterCalls; second++) {
        for (const other of crashes) {
          const plan = new Map([
            [first, faultOf(kind)],
            [second, faultOf(other)],
          ]);
          const tried = plannedCase(scenario, plan);
          const verdict = await runCase(tried);
          if (verdict.struck.length === 2)
            yield { name: `${scenario.name} ${first}:${kind} ${second}:${other}`, tried, verdict };
        }
      }
    }
  }
}

/** One seed decides the scenario, the weather, the faults and the order. */
export function caseOf(seed: number, only?: Scenario): Case {
  const random = seeded(seed);
  const scenario = only ?? random.pick(scenarios);
  const weather = randomWeather(random);
  return {
    scenario,
    seed,
    weather: bearable(scenario, weather),
    faults: { are: "random", probability: random.pick([0.04, 0.08, 0.15, 0.3]), budget: 2 + random.below(5) },
  };
}

export async function randomSchedule(seed: number, only?: Scenario, sabotage?: Sabotage): Promise<Tried> {
  const tried = caseOf(seed, only);
  return { name: `seed ${seed} (${tried.scenario.name})`, tried, verdict: await runCase(tried, sabotage) };
}

/** Without what no design could stand. */
function bearable(scenario: Scenario, weather: WeatherPlan): WeatherPlan {
  // That an owner is dead is known by clocks within the bound: with worse ones "not done" cannot be believed (design, section 6).
  if (scenario.resolver !== undefined && weather.skewMs > 900) return { ...weather, skewMs: 900 };
  // A stray message that is purged cannot be kept.
  if (scenario.strayMessages !== undefined) return { ...weather, purgeAtMs: undefined };
  // I8: only the scanner brings a node whose tool is unknown to its deadline.
  if (scenario.undeployed !== undefined && weather.off.includes("scanner")) return { ...weather, off: [] };
  return weather;
}
