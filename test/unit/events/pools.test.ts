/** What the stack tells a function of the pools, and what becomes of a wrong word. */
import { afterEach, describe, expect, test, vi } from "vitest";
import { boundsOfAllPools, boundsOfOwnPool, poolQueueUrls } from "../../../functions/pools.ts";
import { queueUrls } from "../../../functions/surroundings.ts";
import { toolTable } from "../../../shared/tool.ts";
import { testLimits, toolWith } from "../../support/world.ts";

afterEach(() => vi.unstubAllEnvs());
const set = (name: string, value: string): void => void vi.stubEnv(name, value);

describe("the queues of the pools", () => {
  test("are none where the variable is not set", () => {
    expect(poolQueueUrls()).toEqual({});
    expect(queueUrls()).toEqual({ poolUrls: {} });
  });

  test("are handed to the queue beside its own", () => {
    set("LEASEHOLD_DISPATCH_QUEUE_URL", "https://sqs/main");
    set("LEASEHOLD_POOL_QUEUE_URLS", '{"heavy":"https://sqs/heavy","constructor":"https://sqs/c"}');
    expect(queueUrls()).toEqual({
      dispatchUrl: "https://sqs/main",
      poolUrls: { heavy: "https://sqs/heavy", constructor: "https://sqs/c" },
    });
  });

  test.each([
    ["no JSON", "{"],
    ["nothing", ""],
    ["a list", '["https://sqs/heavy"]'],
    ["null", "null"],
    ["a queue that is no text", '{"heavy":5}'],
    ["a queue without a URL", '{"heavy":""}'],
    ["a pool that has no name", '{"a b":"https://sqs/heavy"}'],
  ])("that are %s are refused with variable, rule and value", (_name, value) => {
    set("LEASEHOLD_POOL_QUEUE_URLS", value);
    expect(poolQueueUrls).toThrow(
      "environment variable LEASEHOLD_POOL_QUEUE_URLS must be a JSON object of pool names and queue URLs",
    );
    expect(poolQueueUrls).toThrow(`, got ${value}`);
  });
});

describe("the limits of the pools", () => {
  const table = (pool: string | undefined, timeoutMs: number) => () =>
    toolTable([toolWith({ timeoutMs, ...(pool === undefined ? {} : { pool }) })], boundsOfAllPools(testLimits()));

  test("are the defaults with what differs in that pool, and bound its tools alone", () => {
    set(
      "LEASEHOLD_POOL_LIMITS",
      '{"heavy":{"attemptLimitMs":600000,"functionTimeoutMs":800000,"queueVisibilityMs":3600000},"plain":{}}',
    );
    expect(table("heavy", 600_000)).not.toThrow();
    expect(table("heavy", 600_001)).toThrow("limits.attemptLimitMs (600000)");
    expect(table("plain", 240_001)).toThrow("limits.attemptLimitMs (240000)");
    expect(table(undefined, 240_001)).toThrow("limits.attemptLimitMs (240000)");
    expect(table("other", 1)).toThrow('pool must be one of "heavy", "plain" or be left out, got "other"');
  });

  test("that are not set leave no pool to name", () => {
    expect(table(undefined, 1)).not.toThrow();
    expect(table("heavy", 1)).toThrow('pool must be left out, this deployment has no pools, got "heavy"');
  });

  test.each([
    ["no JSON", "{", "must be a JSON object of pool names and their limits, got {"],
    ["a number", "5", "must be a JSON object of pool names and their limits"],
    ["a limit that is no number", '{"heavy":{"leaseMs":"5"}}', "(heavy.leaseMs: "],
    ["a pool that has no name", '{"":{}}', "must be a JSON object of pool names and their limits"],
    ["a limit that is none", '{"heavy":{"speed":1}}', 'pool "heavy": Error: limits contradict each other or are wrong'],
    ["limits that contradict each other", '{"heavy":{"leaseMs":1000}}', "heartbeatMs (10000) must be at most a third"],
  ])("that are %s are refused with variable, rule and value", (_name, value, says) => {
    set("LEASEHOLD_POOL_LIMITS", value);
    expect(table(undefined, 1)).toThrow("environment variable LEASEHOLD_POOL_LIMITS");
    expect(table(undefined, 1)).toThrow(says);
  });
});

describe("a worker's own pool", () => {
  const table = (pool: string | undefined) => () =>
    toolTable([toolWith(pool === undefined ? {} : { pool })], boundsOfOwnPool(testLimits()));

  test("is none where the variable is not set: it takes tools that name none", () => {
    expect(table(undefined)).not.toThrow();
    expect(table("heavy")).toThrow('pool must be left out in the main worker, got "heavy"');
  });

  test("is the one that the variable names, and it takes that one's tools", () => {
    set("LEASEHOLD_POOL", "heavy");
    expect(table("heavy")).not.toThrow();
    expect(table(undefined)).toThrow('pool must be "heavy" in the worker of that pool, got none');
  });

  test.each(["", "a b", "x".repeat(41)])("that is called %j is refused with variable, rule and value", (value) => {
    set("LEASEHOLD_POOL", value);
    expect(table("heavy")).toThrow(
      `environment variable LEASEHOLD_POOL must be 1 to 40 of A-Z a-z 0-9 -, got ${JSON.stringify(value)}`,
    );
  });
});
