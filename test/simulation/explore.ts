/** Which schedules are tried: every single fault, every pair of crashes, and random ones by seed. */
import type { Write } from "../../shared/write.ts";
import { calmWeather, type Weather } from "./engine.ts";
import { type Fault, type FaultKind, noFaults, planned, randomFaults } from "./faults.ts";
import { type Scenario, scenarios } from "./scenarios.ts";
import { runSchedule, type Verdict } from "./schedule.ts";
import { type Seeded, seeded } from "./seeded.ts";

export type Alter = (write: Write) => Write;

const allKinds: readonly FaultKind[] = ["crash_before", "crash_after", "error", "busy", "lost_reply", "delay", "pause"];
const crashes: readonly FaultKind[] = ["crash_before", "crash_after"];
/** A pause outlives the lease and the take-over; a delay outlives only the other calls. */
const msOf = (kind: FaultKind): number => (kind === "pause" ? 45_000 : 4_000);
const faultOf = (kind: FaultKind): Fault => ({ kind, ms: msOf(kind) });

/** A fault moves the calls after it: a pair's second one may come later than any call of the undisturbed schedule. */
const laterCalls = 25;

export type Tried = { readonly name: string; readonly verdict: Verdict };

export async function* everySingleFault(scenario: Scenario, alter?: Alter): AsyncGenerator<Tried> {
  const calls = (await runSchedule({ scenario, seed: 1, choose: noFaults, ...altered(alter) })).calls;
  for (let index = 0; index < calls; index++) {
    for (const kind of allKinds) {
      const plan = new Map([[index, faultOf(kind)]]);
      const verdict = await runSchedule({ scenario, seed: 1, choose: planned(plan), ...altered(alter) });
      if (verdict.struck.length > 0) yield { name: `${scenario.name} ${index}:${kind}`, verdict };
    }
  }
}

export async function* everyPairOfCrashes(scenario: Scenario, alter?: Alter): AsyncGenerator<Tried> {
  const calls = (await runSchedule({ scenario, seed: 1, choose: noFaults, ...altered(alter) })).calls;
  for (let first = 0; first < calls; first++) {
    for (const kind of crashes) {
      for (let second = first + 1; second < calls + laterCalls; second++) {
        for (const other of crashes) {
          const plan = new Map([
            [first, faultOf(kind)],
            [second, faultOf(other)],
          ]);
          const verdict = await runSchedule({ scenario, seed: 1, choose: planned(plan), ...altered(alter) });
          if (verdict.struck.length === 2)
            yield { name: `${scenario.name} ${first}:${kind} ${second}:${other}`, verdict };
        }
      }
    }
  }
}

/** One seed decides the scenario, the weather, the faults and the order. */
export async function randomSchedule(seed: number, only?: Scenario, alter?: Alter): Promise<Tried> {
  const random = seeded(seed);
  const scenario = only ?? random.pick(scenarios);
  const weather = randomWeather(random);
  const choose = randomFaults(random, random.pick([0.02, 0.05, 0.1, 0.2]), 2 + random.below(5));
  const verdict = await runSchedule({ scenario, seed, choose, weather, ...altered(alter) });
  return { name: `seed ${seed} (${scenario.name})`, verdict };
}

const altered = (alter: Alter | undefined) => (alter === undefined ? {} : { alterWrite: alter });

/** Faults of the surroundings: triggers off for a while or for ever, messages and records lost, doubled or late, clocks off. */
function randomWeather(random: Seeded): Weather {
  const startMs = 1_800_000_000_000;
  const offFromMs = startMs + random.below(20_000);
  const offUntilMs = offFromMs + random.pick([10_000, 120_000, 600_000]);
  const off = random.pick([
    "nothing",
    "nothing",
    "relay for ever",
    "scanner for ever",
    "relay",
    "scanner",
    "both",
    "worker",
    "commands",
  ] as const);
  // I8: the relay alone brings everything to its end only where no message and no record was lost.
  const mayLose = off !== "scanner for ever" && random.chance(0.5);
  const lossy = mayLose ? 0.15 : 0;
  const doubled = random.pick([0, 0.2, 0.5]);
  const latest = random.pick([0, 2_000, 40_000]);
  const skew = random.pick([0, 0, 900, 10_000, 60_000]);
  const lag = random.pick([0, 0, 5_000, 90_000]);
  const late = (): number => (random.chance(0.3) ? random.below(latest + 1) : 0);
  return {
    ...calmWeather,
    isOn: (kind, nowMs) => {
      if (off === "relay for ever") return kind !== "relay" || nowMs < offFromMs;
      if (off === "scanner for ever") return kind !== "scanner";
      const isOff = off === kind || (off === "both" && (kind === "relay" || kind === "scanner"));
      return !isOff || nowMs < offFromMs || nowMs >= offUntilMs;
    },
    arrivals: () => {
      if (random.chance(lossy)) return [];
      return random.chance(doubled) ? [late(), late()] : [late()];
    },
    records: () => {
      if (random.chance(lossy)) return [];
      return random.chance(doubled) ? [50 + late(), 50 + late()] : [50 + late()];
    },
    clockOffsetMs: () => (skew === 0 ? 0 : random.below(2 * skew) - skew),
    latencyMs: () => 1 + random.below(40),
    indexLagMs: () => random.below(lag + 1),
  };
}
