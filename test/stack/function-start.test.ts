/** What the stack promises a function must be there when it starts, or its start says what is not. */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import * as z from "zod";
import { createCommands } from "../../functions/create-commands.ts";
import { createWorker } from "../../functions/create-worker.ts";
import { defineTool } from "../../shared/tool.ts";

const tool = (name: string, more: { readonly pool?: string; readonly timeoutMs?: number } = {}) =>
  defineTool({ name, input: z.json(), output: z.json(), effect: "read_only", execute: async () => null, ...more });

beforeEach(() => {
  for (const [name, value] of Object.entries({
    AWS_REGION: "eu-west-1",
    LEASEHOLD_TABLE: "table",
    LEASEHOLD_NAMESPACE: "test",
    LEASEHOLD_LIMITS: "{}",
    LEASEHOLD_VALUES_BUCKET: "bucket",
    LEASEHOLD_DISPATCH_QUEUE_URL: "https://sqs.example/dispatch",
    LEASEHOLD_REJECTED_QUEUE_URL: "https://sqs.example/rejected",
  }))
    vi.stubEnv(name, value);
});
afterEach(() => vi.unstubAllEnvs());

describe("a worker", () => {
  it.each(["LEASEHOLD_TABLE", "LEASEHOLD_NAMESPACE", "LEASEHOLD_VALUES_BUCKET"])(
    "that is started without %s names it",
    (name) => {
      vi.stubEnv(name, "");
      expect(() => createWorker([tool("a")])).toThrow(`environment variable ${name} must be set; the stack sets it`);
    },
  );

  it("of the main kind refuses a pool's tool, and a pool's worker one of the main kind", () => {
    expect(() => createWorker([tool("a"), tool("b", { pool: "heavy" })])).toThrow(
      'tool "b": pool must be left out in the main worker, got "heavy"',
    );
    vi.stubEnv("LEASEHOLD_POOL", "heavy");
    expect(() => createWorker([tool("a")])).toThrow(
      'tool "a": pool must be "heavy" in the worker of that pool, got none',
    );
  });

  it("answers an empty batch, which needs nothing of AWS", async () => {
    const handler = createWorker([tool("a")]);
    expect(await handler({ Records: [] }, { getRemainingTimeInMillis: () => 1_000 })).toEqual({
      batchItemFailures: [],
    });
  });
});

describe("the commands", () => {
  it("take the tools of all pools, each under the limits of its own", () => {
    vi.stubEnv("LEASEHOLD_POOL_LIMITS", JSON.stringify({ heavy: { attemptLimitMs: 280_000 } }));
    expect(() => createCommands([tool("a"), tool("b", { pool: "heavy", timeoutMs: 270_000 })])).not.toThrow();
    expect(() => createCommands([tool("a", { timeoutMs: 270_000 })])).toThrow(
      'tool "a": timeoutMs (270000) must be at most limits.attemptLimitMs (240000)',
    );
    expect(() => createCommands([tool("a", { pool: "light" })])).toThrow(
      'tool "a": pool must be one of "heavy" or be left out, got "light"',
    );
  });
});
