/** A server that asks for more is asked again after an hour: a date that is far off, or wrong, must not outlive the run. */
const longestMs = 3_600_000;

/**
 * The three forms of a date (RFC 9110, 5.6.7), each of which means GMT; the last does not say so, and to the parser it would be
 * this machine's own time.
 */
const saysGmt = /^[A-Z][a-z]+, \d\d[ -][A-Z][a-z]{2}[ -]\d\d(\d\d)? \d\d:\d\d:\d\d GMT$/;
const meansGmt = /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}$/;

/**
 * The header Retry-After: seconds or an HTTP date (RFC 9110, 10.2.3).
 * @returns milliseconds from now, at most an hour, or undefined where there is neither.
 */
export function retryAfterMsOf(value: string | null | undefined, nowMs: number): number | undefined {
  if (value === null || value === undefined) return undefined;
  if (/^\d+$/.test(value)) return Math.min(Number(value) * 1_000, longestMs);
  const atMs = saysGmt.test(value) ? Date.parse(value) : meansGmt.test(value) ? Date.parse(`${value} GMT`) : Number.NaN;
  return Number.isNaN(atMs) ? undefined : Math.min(Math.max(0, atMs - nowMs), longestMs);
}
