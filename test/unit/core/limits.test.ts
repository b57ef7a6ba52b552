import { describe, expect, test } from "vitest";
import { defaultLimits, fixed, type Limits, limitsWith } from "../../../shared/limits.ts";

const day = 86_400_000;

describe("numbers that contradict each other", () => {
  test.each<[name: string, broken: Partial<Limits>, atTheEdge: Partial<Limits>, numbers: readonly number[]]>([
    ["a heartbeat above a third of the lease", { heartbeatMs: 10_001 }, { heartbeatMs: 10_000 }, [10_001, 30_000]],
    ["a skew as long as the lease", { skewMs: 30_000 }, { skewMs: 29_999 }, [30_000, 30_000]],
    [
      "an attempt, its grace and its commit that outlast the function",
      { attemptLimitMs: 293_001 },
      { attemptLimitMs: 293_000 },
      [300_001, 300_000],
    ],
    [
      "a worker that outlasts its message's visibility",
      { queueVisibilityMs: 299_999 },
      { queueVisibilityMs: 300_000 },
      [300_000, 299_999],
    ],
    [
      "another function that outlasts its message's visibility",
      { plainFunctionTimeoutMs: 360_001 },
      { plainFunctionTimeoutMs: 360_000 },
      [360_001, 360_000],
    ],
    [
      "a function longer than Lambda's own",
      { functionTimeoutMs: 900_001 },
      { functionTimeoutMs: 900_000 },
      [900_001, 900_000],
    ],
    [
      "a visibility longer than SQS's own",
      { queueVisibilityMs: 12 * 3_600_000 + 1 },
      { queueVisibilityMs: 12 * 3_600_000 },
      [12 * 3_600_000 + 1, 12 * 3_600_000],
    ],
    [
      "a lease and skew that outlast the visibility",
      { leaseMs: 1_798_001, functionTimeoutMs: 300_000 },
      { leaseMs: 1_798_000 },
      [1_800_001, 1_800_000],
    ],
    [
      "dead letters kept no longer than their source",
      { queueRetentionMs: 14 * day },
      { queueRetentionMs: 14 * day - 1 },
      [14 * day, 14 * day],
    ],
    [
      "dead letters kept longer than SQS can",
      { deadLetterRetentionMs: 14 * day + 1 },
      { deadLetterRetentionMs: 14 * day },
      [14 * day + 1, 14 * day],
    ],
    [
      "a dead letter that outlives the run it names",
      { retentionMs: 14 * day },
      { retentionMs: 14 * day + 1 },
      [14 * day, 14 * day],
    ],
    [
      "a default deadline beyond what a start may ask for",
      { runDeadlineMs: fixed.runDeadlineMs + 1 },
      { runDeadlineMs: fixed.runDeadlineMs },
      [fixed.runDeadlineMs + 1, fixed.runDeadlineMs],
    ],
    ["so few receives that throttling kills messages", { maxReceives: 9 }, { maxReceives: 10 }, [9, 10]],
    ["more receives than SQS allows", { maxReceives: 1_001 }, { maxReceives: 1_000 }, [1_001, 1_000]],
    [
      "a back-off that begins above its maximum",
      { backoffBaseMs: 300_001 },
      { backoffBaseMs: 300_000 },
      [300_001, 300_000],
    ],
    [
      "a busy run scanned less often than a quiet one",
      { scanEveryMs: 3_600_001 },
      { scanEveryMs: 3_600_000 },
      [3_600_001, 3_600_000],
    ],
  ])("%s is refused with both numbers, and the edge is not", (_name, broken, atTheEdge, numbers) => {
    for (const number of numbers) expect(() => limitsWith(broken)).toThrow(String(number));
    for (const name of Object.keys(atTheEdge)) expect(() => limitsWith(broken)).toThrow(name);
    expect(limitsWith(atTheEdge)).toMatchObject(atTheEdge);
  });

  test("all of them are named at once", () => {
    expect(() => limitsWith({ skewMs: 30_000, maxReceives: 9 })).toThrow(/skewMs.*maxReceives/);
  });
});

describe("a limit that is none", () => {
  test("an unknown name is refused, and the known ones are named", () => {
    expect(() => limitsWith(JSON.parse('{"leaseSeconds": 30}'))).toThrow(
      /leaseSeconds is no limit.*leaseMs, heartbeatMs/,
    );
  });

  test.each(["toString", "constructor", "__proto__"])("%s, which every object inherits, is as unknown", (name) => {
    expect(() => limitsWith(JSON.parse(`{"${name}": 5}`))).toThrow(`${name} is no limit`);
  });

  test.each(["0", "-1", "1.5", '"30"', "null", "1e300", "9007199254740992", "true"])(
    "%s is no positive whole number",
    (text) => {
      expect(() => limitsWith(JSON.parse(`{"attempts": ${text}}`))).toThrow("attempts must be a positive whole number");
    },
  );
});

test("without overrides the defaults hold, and with one nothing else changes", () => {
  expect(limitsWith()).toEqual(defaultLimits);
  expect(limitsWith({ attempts: 1 })).toEqual({ ...defaultLimits, attempts: 1 });
});
