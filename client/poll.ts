import type { Clock } from "../shared/ports.ts";
import { clientError } from "./errors.ts";
import { invalidOption } from "./given.ts";

export type WaitOptions = {
  /** How long to wait before `timed_out` is thrown; 0 looks once. @default no end */
  readonly timeoutMs?: number;
  /** Ends the waiting with the signal's reason. What was sent stays sent. */
  readonly signal?: AbortSignal;
};

const FIRST_PAUSE_MS = 100;
const PAUSE_GROWTH = 1.5;

/**
 * Looks again and again, at growing intervals, until something is found; once more when the time is over, so that a
 * slow answer which is there by then is not missed.
 * @throws ClientError `timed_out`, the signal's reason, or what `look` throws.
 */
export async function poll<Found>(
  clock: Pick<Clock, "monotonicMs" | "sleep">,
  options: WaitOptions & { readonly longestPauseMs: number; readonly waitsFor: string },
  look: () => Promise<Found | undefined>,
): Promise<Found> {
  const { timeoutMs = Number.POSITIVE_INFINITY, signal, longestPauseMs, waitsFor } = options;
  if (typeof timeoutMs !== "number" || !(timeoutMs >= 0)) {
    throw invalidOption("", "timeoutMs", "must be a number of milliseconds from 0 on", timeoutMs);
  }
  const endMs = clock.monotonicMs() + timeoutMs;
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * PAUSE_GROWTH, longestPauseMs)) {
    const found = await unlessAborted(look, signal);
    if (found !== undefined) return found;
    const leftMs = endMs - clock.monotonicMs();
    if (leftMs <= 0) throw clientError("timed_out", `${waitsFor} within ${timeoutMs} ms`);
    await clock.sleep(Math.min(pauseMs, leftMs), signal);
  }
}

/**
 * What hangs must not hold up whoever aborts. After an abort nothing is begun: nobody would wait for it, and a failure that
 * nobody waits for ends the process.
 */
export async function unlessAborted<Value>(
  begin: () => Promise<Value>,
  signal: AbortSignal | undefined,
): Promise<Value> {
  if (signal === undefined) return begin();
  signal.throwIfAborted();
  const { promise: aborted, reject } = deferred();
  const onAbort = () => reject(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await Promise.race([begin(), aborted]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

function deferred(): { readonly promise: Promise<never>; readonly reject: (reason: unknown) => void } {
  let reject: (reason: unknown) => void = () => {};
  const promise = new Promise<never>((_, rejectIt) => {
    reject = rejectIt;
  });
  return { promise, reject };
}
