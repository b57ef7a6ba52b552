/** What a set of schedules covered, so that a report can say what was not tried. */

import { type FaultKind, kindsAt, type Port } from "../../testing/faults.ts";
import type { Tried } from "./explore.ts";

export type Coverage = {
  schedules: number;
  /** Schedules in which at least two faults struck. */
  withTwoFaults: number;
  calls: number;
  faults: number;
  /** Calls of a tool by a former owner that was still alive: no runtime can take them back. */
  lateCalls: number;
  readonly states: Set<string>;
  readonly statuses: Map<string, number>;
  /** `port/kind` -> how often it struck. */
  readonly struck: Map<string, number>;
  readonly processes: Set<string>;
};

export const noCoverage = (): Coverage => ({
  schedules: 0,
  withTwoFaults: 0,
  calls: 0,
  faults: 0,
  lateCalls: 0,
  states: new Set(),
  statuses: new Map(),
  struck: new Map(),
  processes: new Set(),
});

const add = (counts: Map<string, number>, name: string): void => {
  counts.set(name, (counts.get(name) ?? 0) + 1);
};

export function cover(coverage: Coverage, { verdict }: Tried): void {
  coverage.schedules += 1;
  if (verdict.struck.length >= 2) coverage.withTwoFaults += 1;
  coverage.calls += verdict.calls;
  coverage.faults += verdict.struck.length;
  coverage.lateCalls += verdict.lateCalls;
  for (const state of verdict.states) coverage.states.add(state);
  add(coverage.statuses, verdict.status ?? "refused");
  for (const { port, kind, process } of verdict.struck) {
    add(coverage.struck, `${port}/${kind}`);
    coverage.processes.add(`${process} ${port}/${kind}`);
  }
}

/** Every port with every kind of fault that makes sense there. */
export const allPortFaults = (): readonly string[] =>
  (Object.entries(kindsAt) as [Port, readonly FaultKind[]][]).flatMap(([port, kinds]) =>
    kinds.map((kind) => `${port}/${kind}`),
  );

export const notMet = (coverage: Coverage): readonly string[] =>
  allPortFaults().filter((name) => !coverage.struck.has(name));

export function report(coverage: Coverage): string {
  const statuses = [...coverage.statuses]
    .sort()
    .map(([status, count]) => `${status} ${count}`)
    .join(", ");
  const missing = notMet(coverage);
  return [
    `schedules ${coverage.schedules}, of which ${coverage.withTwoFaults} with two faults or more`,
    `calls of ports ${coverage.calls}, faults struck ${coverage.faults}, ${coverage.processes.size} different kinds of fault at a function's port`,
    `different states of a node (status, epoch, effect) ${coverage.states.size}; runs ended: ${statuses}`,
    `calls of a tool by a former owner that was still alive: ${coverage.lateCalls}`,
    missing.length === 0 ? "every port met every kind of fault" : `not met: ${missing.join(", ")}`,
  ].join("\n");
}
