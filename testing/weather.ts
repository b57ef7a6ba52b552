/** What a deployment meets besides the faults at single calls. */
import type { ProcessKind } from "./faults.ts";

export type Weather = {
  /** Whether each function's trigger works at that time. */
  readonly isOn: (kind: ProcessKind, nowMs: number) => boolean;
  /** Fate of a message that is sent: how many copies arrive, each after so long. */
  readonly arrivals: (nowMs: number) => readonly number[];
  /** Fate of a stream record: how often it is handled at the least, or lost. */
  readonly records: (nowMs: number) => readonly number[];
  /** How far an invocation's wall clock is off. */
  readonly clockOffsetMs: () => number;
  /** How long a call takes. */
  readonly latencyMs: () => number;
  /** How old an index read may be. */
  readonly indexLagMs: () => number;
  readonly purgeAtMs: number | undefined;
  /** Rules that fire beside each other. */
  readonly scanners: number;
};

export const calmWeather: Weather = {
  isOn: () => true,
  arrivals: () => [0],
  records: () => [50],
  clockOffsetMs: () => 0,
  latencyMs: () => 10,
  indexLagMs: () => 0,
  purgeAtMs: undefined,
  scanners: 1,
};
