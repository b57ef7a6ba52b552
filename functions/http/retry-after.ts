/** A server that asks for more is asked again after an hour: a date that is far off, or wrong, must not outlive the run. */
const longestMs = 3_600_000;

/**
 * The header Retry-After: seconds or an HTTP date (RFC 9110, 10.2.3).
 * @returns milliseconds from now, at most an hour, or undefined where there is neither.
 */
export function retryAfterMsOf(value: string | null | undefined, nowMs: number): number | undefined {
  if (value === null || value === undefined) return undefined;
  if (/^\d+$/.test(value)) return Math.min(Number(value) * 1_000, longestMs);
  // Each form of a date begins with its day of the week; without that, "1.5" would be a date of 2001 to this parser.
  const atMs = /^[A-Z][a-z]{2}/.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(atMs) ? undefined : Math.min(Math.max(0, atMs - nowMs), longestMs);
}
