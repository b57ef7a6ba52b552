/** Makes a failing schedule smaller: fault after fault and cloud after cloud is taken away while it still fails. */

import type { Fault } from "../../testing/faults.ts";
import type { Sabotage } from "./engine.ts";
import { type Case, runCase, type Tried } from "./explore.ts";
import { calm, type WeatherPlan } from "./weather.ts";

const fails = async (tried: Case, sabotage: Sabotage | undefined): Promise<boolean> =>
  (await runCase(tried, sabotage)).violations.length > 0;

export async function shrink({ tried, verdict }: Tried, sabotage?: Sabotage): Promise<Case> {
  const plan = new Map<number, Fault>(verdict.struck.map(({ index, kind, ms }) => [index, { kind, ms }]));
  let smallest: Case = { ...tried, faults: { are: "planned", plan } };
  // The same faults at the same calls make the same schedule; if not, it is told as it was found.
  if (!(await fails(smallest, sabotage))) return tried;
  for (let again = true; again; ) {
    again = false;
    for (const smaller of smallerThan(smallest)) {
      if (!(await fails(smaller, sabotage))) continue;
      smallest = smaller;
      again = true;
      break;
    }
  }
  return smallest;
}

function* smallerThan(tried: Case): Generator<Case> {
  if (tried.faults.are === "planned") {
    for (const index of tried.faults.plan.keys()) {
      const plan = new Map([...tried.faults.plan].filter(([other]) => other !== index));
      yield { ...tried, faults: { are: "planned", plan } };
    }
  }
  for (const name of Object.keys(calm) as (keyof WeatherPlan)[]) {
    if (JSON.stringify(tried.weather[name]) === JSON.stringify(calm[name])) continue;
    yield { ...tried, weather: { ...tried.weather, [name]: calm[name] } };
  }
}

/** A case in words, to be read and to be found again. */
export function describeCase({ scenario, seed, weather, faults }: Case): string {
  const clouds = Object.entries(weather).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(calm[name as keyof WeatherPlan]),
  );
  const sky = clouds.map(([name, value]) => `${name}=${String(value)}`).join(" ") || "calm";
  const strikes =
    faults.are === "planned"
      ? [...faults.plan].map(([index, fault]) => `${index}:${fault.kind}`).join(" ") || "none"
      : `random, at most ${faults.budget}`;
  return `scenario ${scenario.name}, seed ${seed}, weather ${sky}, faults ${strikes}`;
}
