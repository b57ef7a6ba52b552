/** What a tool's declaration must say, and what it must not. */
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { anyPool } from "../../../shared/pools.ts";
import { type AnyTool, defineTool, isCareful, type Tool, toolTable } from "../../../shared/tool.ts";
import { toolWith } from "../../support/world.ts";

const lookUp = async () => ({ is: "unknown" }) as const;
const reconcilable = { effect: "reconcilable", reconcile: lookUp } as const;
const define = (part: object) => () => defineTool(toolWith(part as Partial<AnyTool>) as Tool);
const bounds = anyPool({ attemptLimitMs: 240_000, functionTimeoutMs: 300_000 });

test.each<[string, object]>([
  ["read_only", { effect: "read_only" }],
  ["idempotent", { effect: "idempotent" }],
  ["idempotent with a key's lifetime", { effect: "idempotent", keyLifetimeMs: 400_000 }],
  ["reconcilable", reconcilable],
  ["reconcilable with a budget", { ...reconcilable, reconcileRetry: { attempts: 2, timeoutMs: 5, backoffBaseMs: 1 } }],
  ["at_most_once", { effect: "at_most_once" }],
  ["of a pool", { pool: "heavy" }],
])("a tool that is %s is taken as it is", (_name, part) => {
  const tool = toolWith(part as Partial<AnyTool>);
  expect(defineTool(tool as Tool)).toBe(tool);
  expect(toolTable([tool], bounds).get("work")).toBe(tool);
});

describe("a declaration is refused with field, rule and value", () => {
  test.each<[string, object, string]>([
    [
      "without its effect",
      { effect: undefined },
      "effect must be one of read_only, idempotent, reconcilable, at_most_once, got",
    ],
    ["with an unknown effect", { effect: "exactly_once" }, 'got "exactly_once"'],
    [
      "reconcilable without reconcile",
      { effect: "reconcilable" },
      "reconcile must be a function where effect is reconcilable, got undefined",
    ],
    ["reconcilable with no function", { effect: "reconcilable", reconcile: {} }, "got object"],
    [
      "idempotent with reconcile",
      { effect: "idempotent", reconcile: lookUp },
      "reconcile is only for effect reconcilable, got effect idempotent",
    ],
    ["at_most_once with reconcile", { effect: "at_most_once", reconcile: lookUp }, "got effect at_most_once"],
    [
      "read_only with a reconcile budget",
      { effect: "read_only", reconcileRetry: { attempts: 2 } },
      "reconcileRetry is only for effect reconcilable, got effect read_only",
    ],
    [
      "reconcilable with a key's lifetime",
      { ...reconcilable, keyLifetimeMs: 400_000 },
      "keyLifetimeMs is only for effect idempotent, got effect reconcilable",
    ],
    [
      "at_most_once with a key's lifetime",
      { effect: "at_most_once", keyLifetimeMs: 400_000 },
      "got effect at_most_once",
    ],
    ["read_only with a key's lifetime", { effect: "read_only", keyLifetimeMs: 400_000 }, "got effect read_only"],
    ["with a key that lives for no time", { keyLifetimeMs: 0 }, "keyLifetimeMs must be a positive whole number, got 0"],
    ["with a key that lives for ever", { keyLifetimeMs: Number.POSITIVE_INFINITY }, "keyLifetimeMs must be"],
    [
      "with no reconcile call",
      { ...reconcilable, reconcileRetry: { attempts: 0 } },
      "reconcileRetry.attempts must be a positive whole number, got 0",
    ],
    [
      "with a fraction of a time-out",
      { ...reconcilable, reconcileRetry: { timeoutMs: 1.5 } },
      "reconcileRetry.timeoutMs must be a positive whole number, got 1.5",
    ],
    [
      "with a negative back-off",
      { ...reconcilable, reconcileRetry: { backoffBaseMs: -1 } },
      "reconcileRetry.backoffBaseMs must be a positive whole number, got -1",
    ],
    ["with half an attempt", { retry: { attempts: 0.5 } }, "retry.attempts must be a positive whole number, got 0.5"],
    ["without execute", { execute: undefined }, "execute must be a function, got undefined"],
    ["without a name", { name: "" }, "name must be 1 to 64"],
    ["of a pool without a name", { pool: "" }, 'pool must be 1 to 40 of A-Z a-z 0-9 -, got ""'],
    ["of a pool of another alphabet", { pool: "heavy_one" }, 'pool must be 1 to 40 of A-Z a-z 0-9 -, got "heavy_one"'],
    ["of a pool that is no text", { pool: 5 }, "got 5"],
  ])("%s", (_name, part, message) => {
    expect(define(part)).toThrow(message);
    expect(() => toolTable([toolWith(part as Partial<AnyTool>)], bounds)).toThrow(message);
  });
});

describe("a table of tools", () => {
  test("refuses two of one name", () => {
    expect(() => toolTable([toolWith(), toolWith()], bounds)).toThrow('tool "work": name must be unique');
  });

  test("holds a tool's numbers against the deployment's", () => {
    const refused = (part: Partial<AnyTool>) => () => toolTable([toolWith(part)], bounds);
    expect(refused({ timeoutMs: 240_001 })).toThrow(
      "timeoutMs (240001) must be at most limits.attemptLimitMs (240000)",
    );
    expect(refused({ ...reconcilable, reconcileRetry: { timeoutMs: 240_001 } })).toThrow(
      "reconcileRetry.timeoutMs (240001) must be at most limits.attemptLimitMs (240000)",
    );
    expect(refused({ keyLifetimeMs: 300_000 })).toThrow(
      "keyLifetimeMs (300000) must be above limits.functionTimeoutMs (300000)",
    );
    expect(refused({ keyLifetimeMs: 300_001 })).not.toThrow();
    expect(refused({ timeoutMs: 240_000 })).not.toThrow();
  });

  test("takes as many as one claim can name, and not one more", () => {
    const many = (count: number) => Array.from({ length: count }, (_, index) => toolWith({ name: `t${index}` }));
    expect(toolTable(many(100), bounds).size).toBe(100);
    expect(() => toolTable(many(101), bounds)).toThrow("at most 100 in one deployment, got 101");
  });
});

test("only the classes that must not run blindly are careful", () => {
  expect((["read_only", "idempotent", "reconcilable", "at_most_once"] as const).map(isCareful)).toEqual([
    false,
    false,
    true,
    true,
  ]);
});

test("what execute and reconcile must return follows from the output's schema", () => {
  const tool = defineTool({
    name: "typed",
    input: z.object({ id: z.string() }),
    output: z.object({ n: z.number() }),
    effect: "reconcilable",
    execute: async ({ id }) => ({ n: id.length }),
    reconcile: async ({ id }) => ({ is: "done", output: { n: id.length } }),
  });
  expect(tool.effect).toBe("reconcilable");
});
