/** Parts for tests of the queue. */
import type { Chance, Clock, Dispatch, Outgoing } from "../../shared/ports.ts";

export const dispatchTo = (nodeId: string): Dispatch => ({ run_id: "r", node_id: nodeId, dispatch_id: "d-0" });
export const outgoing = (count: number, delayMs = 0): readonly Outgoing[] =>
  Array.from({ length: count }, (_, n) => ({ dispatch: dispatchTo(`n-${n}`), delayMs }));
export const namesOf = (messages: readonly Outgoing[]): readonly string[] =>
  messages.map(({ dispatch }) => dispatch.node_id);

/** Sleeps are remembered and over at once. */
export function quickClock(): Clock & { readonly slept: number[] } {
  const slept: number[] = [];
  return {
    slept,
    nowMs: () => 0,
    monotonicMs: () => 0,
    sleep: async (ms) => {
      slept.push(ms);
    },
  };
}

export const halfChance: Chance = { fraction: () => 0.5, id: () => "rejection-1" };
