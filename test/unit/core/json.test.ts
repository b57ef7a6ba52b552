import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { canonicalJson, type Json, jsonFault } from "../../../shared/json.ts";
import { fixed } from "../../../shared/limits.ts";

const nested = (levels: number): unknown => {
  let value: unknown = 1;
  for (let level = 0; level < levels; level++) value = level % 2 === 0 ? [value] : { in: value };
  return value;
};

class Money {}
const cycle: { self?: unknown } = {};
cycle.self = cycle;

describe("what JSON would lose or change is named with its place", () => {
  test.each<[string, unknown, string, string]>([
    ["undefined", undefined, "", "undefined"],
    ["an undefined member", { a: undefined }, "/a", "undefined"],
    ["a hole in a list", Object.assign([1], { 2: 2 }), "/1", "hole"],
    ["a function", { a: () => 1 }, "/a", "function"],
    ["a symbol", [Symbol("s")], "/0", "symbol"],
    ["a bigint", { a: { b: 1n } }, "/a/b", "bigint"],
    ["NaN", [Number.NaN], "/0", "NaN"],
    ["infinity", { a: Number.POSITIVE_INFINITY }, "/a", "Infinity"],
    ["minus zero", { a: [-0] }, "/a/0", "-0"],
    ["a whole number beyond 2^53", { n: 2 ** 53 }, "/n", "whole number beyond 2^53"],
    ["one below -2^53", { n: -(2 ** 53) }, "/n", "whole number beyond 2^53"],
    ["a date", { at: new Date(0) }, "/at", "Date"],
    ["a map", new Map(), "", "Map"],
    ["bytes", { b: new Uint8Array(1) }, "/b", "Uint8Array"],
    ["an instance", [new Money()], "/0", "Money"],
    ["a member under a symbol", { [Symbol("s")]: 1 }, "", "symbol key"],
    ["an own toJSON", { a: { toJSON: () => 1 } }, "/a", "toJSON"],
    ["half of a surrogate pair", { a: "x\ud800" }, "/a", "lone surrogate"],
    ["the same in a name", { "x\udc00": 1 }, "/x\udc00", "lone surrogate"],
    ["a cycle", cycle, "/self", "cycle"],
    ["a name with a slash and a tilde", { "a/b~c": undefined }, "/a~1b~0c", "undefined"],
    ["the second fault of a list", [1, "ok", undefined, Number.NaN], "/2", "undefined"],
  ])("%s", (_name, value, path, kind) => {
    expect(jsonFault(value)).toEqual({ path, kind });
  });

  test("a value may be as deep as the limit, and not deeper", () => {
    expect(jsonFault(nested(fixed.valueDepth))).toBeUndefined();
    expect(jsonFault(nested(fixed.valueDepth + 1))?.kind).toBe(`nesting deeper than ${fixed.valueDepth} levels`);
  });

  test("the same object twice is no cycle, and an object without prototype is one as any other", () => {
    const shared = { a: 1 };
    expect(jsonFault([shared, shared, { again: shared }])).toBeUndefined();
    expect(jsonFault(Object.assign(Object.create(null), { a: 1 }))).toBeUndefined();
    expect(jsonFault(JSON.parse('{"__proto__": {"a": 1}}'))).toBeUndefined();
    expect(jsonFault(JSON.parse('{"__proto__": {"a": 1e400}}'))).toEqual({ path: "/__proto__/a", kind: "Infinity" });
  });

  test("the edges of what a number can hold are fine", () => {
    for (const number of [0, 1.5, -1.5, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER, 5e-324]) {
      expect(jsonFault(number)).toBeUndefined();
    }
  });

  test("whatever JSON has written reads back without a fault, but for numbers that it changes itself", () => {
    fc.assert(
      fc.property(fc.jsonValue({ noUnicodeString: false }), (value) => {
        const fault = jsonFault(value);
        if (fault === undefined) expect(JSON.parse(JSON.stringify(value))).toEqual(value);
        else expect(["-0", "whole number beyond 2^53", "lone surrogate"]).toContain(fault.kind);
      }),
    );
  });
});

describe("equal values have one text", () => {
  test.each<[string, string, string]>([
    ["the order of members", '{"b":1,"a":[{"d":1,"c":2}]}', '{"a":[{"c":2,"d":1}],"b":1}'],
    ["1 and 1.0 and 1e0", "[1,1.0,1e0]", "[1.0,1,1]"],
    ["escapes", '"\\u0061"', '"a"'],
    ["white space", ' { "a" : 1 } ', '{"a":1}'],
  ])("whatever %s is", (_name, left, right) => {
    expect(canonicalJson(JSON.parse(left))).toBe(canonicalJson(JSON.parse(right)));
  });

  test.each<[string, Json, Json]>([
    ["NFC and NFD", "\u00e9", "e\u0301"],
    ["names in NFC and NFD", { "\u00e9": 1 }, { "e\u0301": 1 }],
    ["a number and its text", 1, "1"],
    ["null and a missing member", { a: null }, {}],
    ["an empty list and an empty object", [], {}],
    ["the order of a list", [1, 2], [2, 1]],
    ["one member and two", { "a:1,b": 2 }, { a: 1, b: 2 }],
    ["a member named __proto__ and none", JSON.parse('{"__proto__": 1}') as Json, {}],
  ])("%s stay apart", (_name, left, right) => {
    expect(canonicalJson(left)).not.toBe(canonicalJson(right));
  });

  test("the text reads back as the value", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        // JSON itself writes -0 as 0.
        expect(JSON.parse(canonicalJson(value as Json))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });
});
