import { afterEach, beforeEach, expect, test } from "vitest";
import { retryAfterMsOf } from "../../../functions/http/retry-after.ts";

const nowMs = Date.parse("2026-01-01T00:00:00Z");

// A date without a zone means GMT, wherever it is read.
const zone = process.env.TZ;
beforeEach(() => {
  process.env.TZ = "America/New_York";
});
afterEach(() => {
  if (zone === undefined) delete process.env.TZ;
  else process.env.TZ = zone;
});

test.each([
  ["120", 120_000],
  ["0", 0],
  ["Thu, 01 Jan 2026 00:00:05 GMT", 5_000],
  ["Wed, 31 Dec 2025 00:00:00 GMT", 0],
  ["86400", 3_600_000],
  ["9".repeat(400), 3_600_000],
  ["Fri, 01 Jan 2027 00:00:00 GMT", 3_600_000],
  ["Thursday, 01-Jan-26 00:00:05 GMT", 5_000],
  ["Thu Jan  1 00:00:05 2026", 5_000],
  ["Thu, 01 Jan 2026 00:00:05", undefined],
  ["Thu 5", undefined],
  ["soon", undefined],
  ["-5", undefined],
  ["1.5", undefined],
  ["", undefined],
  [null, undefined],
  [undefined, undefined],
])("Retry-After %j is a wait of %j ms", (value, expected) => {
  expect(retryAfterMsOf(value, nowMs)).toBe(expected);
});
