/** The clockwork of a simulated deployment, driven by this machine's time. */
import type { Clockwork } from "../../testing/clockwork.ts";

export type RealTime = Clockwork & {
  /** Nothing that is still to come comes any more, and nothing holds the process. */
  stop(): void;
};

/** Node fires a timer with a longer delay at once instead of late. */
const longestTimerMs = 2 ** 31 - 1;

export function realTime(): RealTime {
  const timers = new Set<NodeJS.Timeout>();
  let stopped = false;
  /** Close to the wall clock, and it never goes back. */
  const nowMs = (): number => performance.timeOrigin + performance.now();

  const at = (timeMs: number, run: () => void): void => {
    if (stopped) return;
    const leftMs = Math.ceil(timeMs - nowMs());
    if (leftMs <= 0) {
      // A turn of its own, as a timer has, without the timer's millisecond: a node takes some twenty of them.
      setImmediate(() => {
        if (!stopped) run();
      });
      return;
    }
    const again = (): void => {
      timers.delete(timer);
      at(timeMs, run);
    };
    const timer = setTimeout(again, Math.min(leftMs, longestTimerMs));
    timers.add(timer);
  };

  return {
    nowMs,
    at,
    // It runs by itself.
    run: async () => undefined,
    stop: () => {
      stopped = true;
      for (const timer of timers) clearTimeout(timer);
      timers.clear();
    },
  };
}
