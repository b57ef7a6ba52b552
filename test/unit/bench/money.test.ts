/** From counts to dollars, by hand. */
import { expect, test } from "vitest";
import { amountsOf, costOf, idleMonthOf, sqsRequestsOf, totalOf } from "../../bench/report/money.ts";
import { prices } from "../../bench/report/prices.ts";
import { noTallies, noTally } from "../../bench/report/tally.ts";

const assumed = { billedMs: { commands: 100, relay: 20, worker: 50, scanner: 200 }, platformLogBytes: 700 };
const noLogs = { commands: 0, relay: 0, worker: 0, scanner: 0 };

test("a million write units and as many read units cost what the price list says", () => {
  const tallies = { ...noTallies(), worker: { ...noTally(), writeUnits: 1, readUnits: 1 } };
  const cost = costOf(amountsOf(tallies, noLogs, assumed), 1_000_000);
  expect(cost.writeUnit).toBeCloseTo(0.625);
  expect(cost.readUnit).toBeCloseTo(0.125);
  expect(totalOf(cost)).toBeCloseTo(0.75);
});

test("a million invocations of the worker cost their requests, their time, their logs and their queue", () => {
  const tallies = { ...noTallies(), worker: { ...noTally(), invocations: 1, hides: 1 } };
  const cost = costOf(amountsOf(tallies, { ...noLogs, worker: 300 }, assumed), 1_000_000);
  expect(cost.lambdaRequest).toBeCloseTo(0.2);
  // 0.5 GB for 0.05 s.
  expect(cost.lambdaGbSecond).toBeCloseTo(0.025 * 13.3334);
  expect(cost.logByte).toBeCloseTo(0.5);
  // Receive, delete and one change of the visibility.
  expect(cost.sqsRequest).toBeCloseTo(1.2);
});

test("the relay is invoked by a stream, whose reads are no requests of a queue", () => {
  const relay = { ...noTally(), invocations: 7, sendRequests: 2, messages: 12 };
  expect(sqsRequestsOf({ ...noTallies(), relay })).toBe(2);
});

test("an idle month is 43,200 passes", () => {
  const month = idleMonthOf({ ...noTally(), Query: 16, readUnits: 8 }, assumed);
  expect(month).toMatchObject({ readUnit: 345_600, lambdaRequest: 43_200, sqsRequest: 1_296_000, customMetric: 0 });
});

test("each price names its page", () => {
  for (const { usd, page, per } of Object.values(prices)) {
    expect(usd).toBeGreaterThan(0);
    expect(page).toMatch(/^[a-z0-9.]+\.[a-z]+\//);
    expect(per).not.toBe("");
  }
});
