/** What goes in comes back equal, or is refused by name; on the ways that need no AWS. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { asciiJson } from "../../../shared/adapters/ascii-json.ts";
import { isSendable } from "../../../shared/adapters/sqs-text.ts";
import { handleCommand } from "../../../shared/command.ts";
import { checkedOutput } from "../../../shared/execute.ts";
import { canonicalJson, type Json, jsonFault } from "../../../shared/json.ts";
import { startRunSchema } from "../../../shared/model.ts";
import { acceptedJson, refused } from "../../support/json-values.ts";
import { testLimits, testWorld, toolsOf, toolWith } from "../../support/world.ts";

const anyTool = toolWith({ output: z.unknown() });

describe("what the contract takes", () => {
  test("is found without a fault, and comes back equal from one encode and decode as execute does it", async () => {
    await fc.assert(
      fc.asyncProperty(acceptedJson, async (value) => {
        expect(jsonFault(value)).toBeUndefined();
        const outcome = await checkedOutput(anyTool, value);
        if (outcome.is !== "succeeded") throw new Error(JSON.stringify(outcome));
        expect(JSON.parse(outcome.output)).toEqual(value);
      }),
      { numRuns: 500 },
    );
  });

  test("comes back equal from a message, which SQS takes whatever it holds", () => {
    fc.assert(
      fc.property(acceptedJson, (input) => {
        const body = asciiJson({ type: "start_run", run_id: "r", nodes: [{ node_id: "a", tool: "work", input }] });
        expect(isSendable(body)).toBe(true);
        expect(startRunSchema.parse(JSON.parse(body)).nodes[0]?.input).toEqual(input);
      }),
      { numRuns: 500 },
    );
  });

  test("is known again by its canonical text", () => {
    fc.assert(
      fc.property(acceptedJson, (value) => {
        expect(canonicalJson(JSON.parse(JSON.stringify(value)) as Json)).toBe(canonicalJson(value));
      }),
    );
  });
});

describe("what the contract refuses", () => {
  const cases = Object.entries(refused);

  test.each(cases)("%s: named with its path and kind", async (_name, { value, path, kind }) => {
    expect(jsonFault(value)).toEqual({ path, kind });
    expect(await checkedOutput(anyTool, value)).toMatchObject({
      is: "bad_output",
      output: undefined,
      error: { code: "bad_output", message: `output${path}: ${kind} is not JSON` },
    });
  });

  test("is found wherever it stands, and whatever stands around it", () => {
    const around = fc.array(fc.tuple(fc.constantFrom("list", "object"), acceptedJson), { maxLength: 5 });
    fc.assert(
      fc.property(fc.constantFrom(...cases), around, ([, { value, path, kind }], levels) => {
        let whole = value;
        let at = path;
        for (const [shape, beside] of levels) {
          whole = shape === "list" ? [beside, whole, beside] : { before: beside, it: whole, after: beside };
          at = shape === "list" ? `/1${at}` : `/it${at}`;
        }
        expect(jsonFault(whole)).toEqual({ path: at, kind });
      }),
      { numRuns: 500 },
    );
  });

  test("leaves nothing between: any value at all comes back equal or is refused", () => {
    const anything = fc.anything({
      withBigInt: true,
      withBoxedValues: true,
      withDate: true,
      withMap: true,
      withNullPrototype: true,
      withObjectString: true,
      withSet: true,
      withSparseArray: true,
      withTypedArray: true,
      stringUnit: "binary",
    });
    let taken = 0;
    fc.assert(
      fc.property(anything, (value) => {
        if (jsonFault(value) !== undefined) return;
        taken += 1;
        expect(JSON.parse(JSON.stringify(value))).toEqual(value);
      }),
      { numRuns: 5_000 },
    );
    expect(taken).toBeGreaterThan(300);
  });

  test.each([
    ["1e400", "Infinity"],
    ["-0", "-0"],
    ["9007199254740993", "whole number beyond 2^53"],
    ['"\\ud800"', "lone surrogate"],
  ])("in a command, %s is refused and kept for a person to read", async (text, kind) => {
    const world = Object.assign(testWorld(), { limits: testLimits(), tools: toolsOf(toolWith()) });
    const body = `{"type":"start_run","run_id":"r","nodes":[{"node_id":"a","tool":"work","input":{"deep":[${text}]}}]}`;
    await handleCommand(world, { messageId: "m", body });
    expect(world.queue.rejected).toHaveLength(1);
    expect(JSON.parse(world.queue.rejected[0]?.reason ?? "")).toMatchObject({
      code: "bad_value",
      field: "/nodes/0/input/deep/0",
      rule: `must not hold a ${kind}`,
    });
  });
});
