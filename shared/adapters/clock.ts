/** The clock of this machine. */
import type { Clock } from "../ports.ts";

/** Node fires a timer with a longer delay at once instead of late. */
const longestTimerMs = 2 ** 31 - 1;

function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const untilMs = performance.now() + ms;
    let timer: NodeJS.Timeout | undefined;
    const done = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", done);
      resolve();
    };
    const wait = (): void => {
      const leftMs = untilMs - performance.now();
      if (!(leftMs > 0) || signal?.aborted === true) {
        done();
        return;
      }
      timer = setTimeout(wait, Math.min(Math.ceil(leftMs), longestTimerMs));
    };
    signal?.addEventListener("abort", done, { once: true });
    wait();
  });
}

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  sleep,
};
