import { expect, it } from "vitest";
import { schedulesWithTwoFaults } from "./two-faults.ts";

it("10,000 random schedules in which two faults or more struck: every invariant holds and every run ends", async () => {
  const coverage = await schedulesWithTwoFaults({ from: 1000001, count: 10_000 });
  expect(coverage.withTwoFaults).toBeGreaterThanOrEqual(10_000);
});
