/** Keeps a claimed node alive while its tool runs: the lease, the message's visibility, and word of a cancelled run. */
import { runKey } from "./keys.ts";
import { type NodeItem, readItem, runItemSchema } from "./model.ts";
import { heartbeat } from "./transitions.ts";
import type { WorkerWorld } from "./worker-world.ts";

export type StopReason = "lease_lost" | "lease_ending" | "cancelled" | "deadline" | "timeout";

export type Pulse = {
  /** Aborts with a StopReason. */
  readonly signal: AbortSignal;
  /** Monotonic time at which the lease, as last extended, ends. */
  leaseEndsAtMs(): number;
  isLost(): boolean;
  isCancelled(): boolean;
  stop(reason: StopReason): void;
  /** One extension for so long, and no beats after it. Resolves to whether it was extended. */
  hold(forMs: number): Promise<boolean>;
  /** Ends the beating and resolves when no call of it is under way. */
  end(): Promise<void>;
};

export type PulseOptions = {
  /** Whether a cancelled run stops what is going on. */
  readonly stopsOnCancel: boolean;
};

/** @param claimedAtMs monotonic time from before the claim was sent, so that the lease is never thought longer than it is. */
export function startPulse(
  world: WorkerWorld,
  node: NodeItem,
  receiptHandle: string,
  claimedAtMs: number,
  { stopsOnCancel }: PulseOptions,
): Pulse {
  const { clock, limits, log, count, pulse } = world;
  const ended = new AbortController();
  const stopped = new AbortController();
  let leaseEndsAtMs = claimedAtMs + limits.leaseMs;
  let lost = false;
  let cancelled = false;
  const stop = (reason: StopReason): void => {
    if (!stopped.signal.aborted) stopped.abort(reason);
  };

  /** @returns whether the lease was extended. */
  const extend = async (forMs: number): Promise<boolean> => {
    const sentAtMs = clock.monotonicMs();
    const answer = await pulse.table.write(heartbeat(node, clock.nowMs() + forMs));
    if (answer.is === "refused") {
      lost = true;
      stop("lease_lost");
      return false;
    }
    if (answer.is !== "applied") {
      // A busy or silent table is no lost lease: go on until the lease itself is nearly over.
      count(answer.is === "busy" ? "HeartbeatBusy" : "HeartbeatUnknown");
      return false;
    }
    leaseEndsAtMs = sentAtMs + forMs;
    // A failed extension is no lost lease either: the table decides (API_ChangeMessageVisibility.html).
    await pulse.queue.hide(receiptHandle, forMs + limits.skewMs).catch(() => count("ExtendVisibilityFailed"));
    return true;
  };

  const lookForCancel = async (): Promise<void> => {
    if (!stopsOnCancel) return;
    const item = await pulse.table.get(runKey(node.run_id)).catch(() => undefined);
    if (item === undefined || readItem(runItemSchema, item).status !== "CANCELLING") return;
    cancelled = true;
    stop("cancelled");
  };

  const beat = async (): Promise<boolean> => {
    const extended = await extend(limits.leaseMs);
    if (extended) await lookForCancel();
    return extended;
  };

  const beating = async (): Promise<void> => {
    let pauseMs = limits.heartbeatMs;
    while (!lost) {
      await clock.sleep(pauseMs, ended.signal);
      if (ended.signal.aborted) return;
      const extended = await beat().catch((error: unknown) => {
        // Whatever it is, a heartbeat must not bring the process down; the lease ends by itself.
        log.warn("heartbeat failed", { node_id: node.node_id, error: String(error) });
        count("HeartbeatFailed");
        return false;
      });
      if (!extended && clock.monotonicMs() > leaseEndsAtMs - limits.skewMs) stop("lease_ending");
      pauseMs = extended ? limits.heartbeatMs : Math.ceil(limits.heartbeatMs / 4);
    }
  };
  const beaten = beating();

  return {
    signal: stopped.signal,
    leaseEndsAtMs: () => leaseEndsAtMs,
    isLost: () => lost,
    isCancelled: () => cancelled,
    stop,
    hold: async (forMs) => {
      ended.abort();
      await beaten;
      return !lost && (await extend(Math.ceil(forMs)).catch(() => false));
    },
    end: async () => {
      ended.abort();
      await beaten;
    },
  };
}
