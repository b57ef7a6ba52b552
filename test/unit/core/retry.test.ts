import fc from "fast-check";
import { expect, test } from "vitest";
import { defaultLimits } from "../../../shared/limits.ts";
import { backoffCeilingMs, withJitterMs } from "../../../shared/retry.ts";

test("the ceiling begins at the base, doubles with each attempt used and stays at the maximum", () => {
  const ceilings = [1, 2, 3, 8, 9, 10, 11, 1_000].map((used) => backoffCeilingMs(used, undefined, defaultLimits));
  expect(ceilings).toEqual([1_000, 2_000, 4_000, 128_000, 256_000, 300_000, 300_000, 300_000]);
});

test("a tool's own policy stands before the limits, each number for itself", () => {
  expect(backoffCeilingMs(1, { backoffBaseMs: 10 }, defaultLimits)).toBe(10);
  expect(backoffCeilingMs(3, { backoffBaseMs: 10, backoffMaxMs: 25 }, defaultLimits)).toBe(25);
  expect(backoffCeilingMs(20, { backoffMaxMs: 5_000 }, defaultLimits)).toBe(5_000);
  expect(backoffCeilingMs(1, { attempts: 3 }, defaultLimits)).toBe(1_000);
});

test("a base above the maximum is not lowered by it", () => {
  expect(backoffCeilingMs(1, { backoffBaseMs: 400_000 }, defaultLimits)).toBe(400_000);
  expect(backoffCeilingMs(9, { backoffBaseMs: 400_000 }, defaultLimits)).toBe(400_000);
});

test("full jitter is anywhere from nothing to the ceiling, in whole milliseconds", () => {
  expect(withJitterMs(1_000, 0)).toBe(0);
  expect(withJitterMs(1_000, 0.5)).toBe(500);
  expect(withJitterMs(999, 0.5)).toBe(499);
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 300_000 }),
      fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
      (ceiling, fraction) => {
        const delay = withJitterMs(ceiling, fraction);
        expect(Number.isSafeInteger(delay) && delay >= 0 && delay < ceiling).toBe(true);
      },
    ),
  );
});
