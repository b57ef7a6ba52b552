/** Faults of the surroundings, as data, so that a failing schedule can be told and made smaller. */

import type { ProcessKind } from "../../testing/faults.ts";
import type { Seeded } from "../../testing/seeded.ts";
import { calmWeather, type Weather } from "../../testing/weather.ts";

export type WeatherPlan = {
  /** Whose trigger is off, from when on, and until when; `Infinity` for ever. */
  readonly off: readonly ProcessKind[];
  readonly offFromMs: number;
  readonly offUntilMs: number;
  /** Probability that a message, or a stream record, is lost for good. */
  readonly lost: number;
  /** Probability that it comes twice. */
  readonly doubled: number;
  /** The latest that it comes; others overtake it. */
  readonly lateMs: number;
  /** How far an invocation's clock is off at the most, in either direction. */
  readonly skewMs: number;
  /** How old an index read is at the most. */
  readonly indexLagMs: number;
  /** All dispatches are taken out of the queue at this time; never when undefined. */
  readonly purgeAtMs: number | undefined;
  /** A second scanner whose passes overlap the first one's. */
  readonly twoScanners: boolean;
};

export const calm: WeatherPlan = {
  off: [],
  offFromMs: 0,
  offUntilMs: 0,
  lost: 0,
  doubled: 0,
  lateMs: 0,
  skewMs: 0,
  indexLagMs: 0,
  purgeAtMs: undefined,
  twoScanners: false,
};

const offChoices: readonly { readonly off: readonly ProcessKind[]; readonly forEver: boolean }[] = [
  { off: [], forEver: false },
  { off: [], forEver: false },
  { off: ["relay"], forEver: true },
  { off: ["scanner"], forEver: true },
  { off: ["relay"], forEver: false },
  { off: ["scanner"], forEver: false },
  { off: ["relay", "scanner"], forEver: false },
  { off: ["worker"], forEver: false },
  { off: ["commands"], forEver: false },
];

export function randomWeather(random: Seeded): WeatherPlan {
  const { off, forEver } = random.pick(offChoices);
  const offFromMs = random.below(20_000);
  // I8: the relay alone brings a run to its end only where no message and no record was lost.
  const mayLose = !(forEver && off.includes("scanner")) && random.chance(0.5);
  return {
    off,
    offFromMs: forEver && off.includes("scanner") ? 0 : offFromMs,
    offUntilMs: forEver ? Number.POSITIVE_INFINITY : offFromMs + random.pick([10_000, 120_000, 600_000]),
    lost: mayLose ? 0.15 : 0,
    doubled: random.pick([0, 0.2, 0.5]),
    lateMs: random.pick([0, 2_000, 40_000]),
    skewMs: random.pick([0, 0, 900, 10_000, 60_000]),
    indexLagMs: random.pick([0, 0, 5_000, 90_000]),
    purgeAtMs: mayLose && random.chance(0.2) ? random.below(10_000) : undefined,
    twoScanners: random.chance(0.3),
  };
}

/** @param random decides each single event, so one seed gives one schedule. */
export function weatherOf(plan: WeatherPlan, random: Seeded, startMs: number): Weather {
  const late = (): number => (plan.lateMs > 0 && random.chance(0.3) ? random.below(plan.lateMs + 1) : 0);
  const fate = (baseMs: number): readonly number[] => {
    if (plan.lost > 0 && random.chance(plan.lost)) return [];
    return plan.doubled > 0 && random.chance(plan.doubled) ? [baseMs + late(), baseMs + late()] : [baseMs + late()];
  };
  return {
    ...calmWeather,
    isOn: (kind, nowMs) =>
      !plan.off.includes(kind) || nowMs < startMs + plan.offFromMs || nowMs >= startMs + plan.offUntilMs,
    arrivals: () => fate(0),
    records: () => fate(50),
    clockOffsetMs: () => (plan.skewMs === 0 ? 0 : random.below(2 * plan.skewMs) - plan.skewMs),
    latencyMs: () => 1 + random.below(40),
    indexLagMs: () => (plan.indexLagMs === 0 ? 0 : random.below(plan.indexLagMs + 1)),
    purgeAtMs: plan.purgeAtMs === undefined ? undefined : startMs + plan.purgeAtMs,
    scanners: plan.twoScanners ? 2 : 1,
  };
}
