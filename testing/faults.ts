/** What may go wrong at one call of a port, and who decides it. */
import type { Seeded } from "./seeded.ts";

export type Port = "get" | "query" | "dueRuns" | "write" | "transact" | "send" | "reject" | "hide" | "blob" | "tool";
export type ProcessKind = "commands" | "relay" | "worker" | "scanner";

export type FaultKind =
  /** The process dies before the call takes effect. */
  | "crash_before"
  /** The process dies after it, the answer is lost with it. */
  | "crash_after"
  /** The call has no effect and says so, or says nothing. */
  | "error"
  /** Conflict or throttle: surely not applied. */
  | "busy"
  /** Applied, and the caller never hears of it. */
  | "lost_reply"
  /** The answer comes late, and the call is applied in time. */
  | "delay"
  /** The process stands still and goes on later as though nothing had been. */
  | "pause"
  /** The process stands still before the call takes effect: what it was about to do happens when it wakes. */
  | "stall";

const writes: readonly FaultKind[] = [
  "crash_before",
  "crash_after",
  "error",
  "busy",
  "lost_reply",
  "delay",
  "pause",
  "stall",
];
const others: readonly FaultKind[] = ["crash_before", "crash_after", "error", "delay", "pause", "stall"];
const sends: readonly FaultKind[] = ["crash_before", "crash_after", "error", "lost_reply", "delay", "pause", "stall"];

/** Which kinds make sense at a port. */
export const kindsAt: { readonly [port in Port]: readonly FaultKind[] } = {
  get: others,
  query: others,
  dueRuns: others,
  write: writes,
  transact: writes,
  send: sends,
  reject: sends,
  hide: sends,
  blob: writes,
  tool: ["crash_before", "crash_after", "error", "lost_reply", "delay", "pause", "stall"],
};

export type Call = {
  readonly index: number;
  readonly process: ProcessKind;
  readonly port: Port;
  readonly what: string;
  /** The node that it is about, where it is about one. */
  readonly nodeId?: string;
};
export type Fault = { readonly kind: FaultKind; readonly ms: number };

/** Called once for each call of a port, in the order in which they are made. */
export type ChooseFault = (call: Call) => Fault | undefined;

export const noFaults: ChooseFault = () => undefined;

/** Named calls only: `plan` maps a call's number to what befalls it, where that kind makes sense there. */
export const planned =
  (plan: ReadonlyMap<number, Fault>): ChooseFault =>
  (call) => {
    const fault = plan.get(call.index);
    return fault !== undefined && kindsAt[call.port].includes(fault.kind) ? fault : undefined;
  };

/** Each call with some probability, until the budget is used up. */
export function randomFaults(seed: Seeded, probability: number, budget: number): ChooseFault {
  let left = budget;
  return (call) => {
    if (left <= 0) return undefined;
    // The scanner comes by every minute; most faults should fall elsewhere.
    const share = call.port === "dueRuns" ? probability / 4 : probability;
    if (!seed.chance(share)) return undefined;
    left -= 1;
    const kind = seed.pick(kindsAt[call.port]);
    // Below the lease, beyond the lease, and long enough for others to finish.
    const ms = seed.pick([50, 3_000, 35_000, 90_000, 200_000]);
    return { kind, ms };
  };
}
