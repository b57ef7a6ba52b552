import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Json, jsonFault } from "../../../shared/json.ts";
import { referencesIn, resolveReferences } from "../../../shared/references.ts";

/** The document of RFC 6901, section 5, and a few members more. */
const document: Json = {
  foo: ["bar", "baz"],
  "": 0,
  "a/b": 1,
  "c%d": 2,
  "e^f": 3,
  "g|h": 4,
  "i\\j": 5,
  'k"l': 6,
  " ": 7,
  "m~n": 8,
  "~1": 9,
  nothing: null,
  deep: [{ list: [[1, 2], [3]] }],
};

const at = (pointer: string): Json => resolveReferences({ $output: "n", pointer }, () => document);
const parse = (text: string): Json => JSON.parse(text) as Json;

describe("a JSON Pointer (RFC 6901) leads to its part", () => {
  test.each<[string, Json]>([
    ["", document],
    ["/foo", ["bar", "baz"]],
    ["/foo/0", "bar"],
    ["/", 0],
    ["/a~1b", 1],
    ["/c%d", 2],
    ["/e^f", 3],
    ["/g|h", 4],
    ["/i\\j", 5],
    ['/k"l', 6],
    ["/ ", 7],
    ["/m~0n", 8],
    ["/~01", 9],
    ["/nothing", null],
    ["/deep/0/list/1/0", 3],
  ])("%j", (pointer, value) => {
    expect(at(pointer)).toEqual(value);
  });

  test("without a pointer the whole output is meant", () => {
    expect(resolveReferences({ $output: "n" }, () => document)).toEqual(document);
  });

  test.each([
    "/bar",
    "/foo/2",
    "/foo/-",
    "/foo/00",
    "/foo/01",
    "/foo/-1",
    "/foo/1e0",
    "/foo/length",
    "/foo/0/0",
    "/nothing/x",
    "//",
    "/toString",
    "/__proto__",
    "/deep/0/constructor",
  ])("%j leads to nothing, and the error names node and pointer", (pointer) => {
    expect(() => at(pointer)).toThrow(`$output "n" has nothing at pointer ${JSON.stringify(pointer)}`);
  });

  test.each(["foo", "#/foo", "/~", "/~2", "/a~", "foo/"])(
    "%j is no pointer, and a start with it has a fault",
    (pointer) => {
      const { faults, references } = referencesIn({ $output: "n", pointer });
      expect(references).toEqual([]);
      expect(faults).toHaveLength(1);
      expect(faults[0]?.rule).toContain("must be a JSON Pointer");
      expect(() => resolveReferences({ $output: "n", pointer }, () => document)).toThrow("JSON Pointer");
    },
  );
});

describe("references in an input", () => {
  test("are found however deep, each as often as it stands there, and replaced in place", () => {
    const input: Json = { a: [1, { b: { $output: "x", pointer: "/foo/1" } }], c: { $output: "y" }, d: "$output" };
    expect(referencesIn(input)).toEqual({
      references: [
        { $output: "x", pointer: "/foo/1" },
        { $output: "y", pointer: "" },
      ],
      faults: [],
    });
    const outputs: Record<string, Json> = { x: document, y: [true] };
    expect(resolveReferences(input, (id) => outputs[id] ?? null)).toEqual({
      a: [1, { b: "baz" }],
      c: [true],
      d: "$output",
    });
  });

  test("what an output brings is a value, and is not looked through for references again", () => {
    const output: Json = { $output: "z" };
    expect(resolveReferences({ a: { $output: "x" } }, () => output)).toEqual({ a: output });
  });

  test.each<[string, Json, string]>([
    ["another member beside it", { $output: "x", more: 1 }, "more"],
    ["an id that is none", { $output: "" }, "must not be empty"],
    ["a number for an id", { $output: 1 }, "$output"],
    ["a number for a pointer", { $output: "x", pointer: 1 }, "pointer"],
  ])("with %s are a fault", (_name, value, says) => {
    const { faults } = referencesIn({ in: [value] });
    expect(faults).toEqual([{ rule: expect.stringContaining(says), value }]);
  });
});

describe("$literal", () => {
  test("gives what it holds as it stands, and hides references in it", () => {
    const input: Json = { a: { $literal: { $output: "x", any: [{ $literal: 1 }] } }, b: { $literal: null } };
    expect(referencesIn(input)).toEqual({ references: [], faults: [] });
    const never = (): never => expect.fail("no output is asked for");
    expect(resolveReferences(input, never)).toEqual({ a: { $output: "x", any: [{ $literal: 1 }] }, b: null });
  });

  test.each<[Json]>([[{ $literal: 1, more: 2 }], [{ $literal: 1, $output: "x" }]])(
    "with anything beside it is a fault: %j",
    (value) => {
      expect(referencesIn(value).faults).toEqual([{ rule: expect.stringContaining("nothing else"), value }]);
      expect(() => resolveReferences(value, () => null)).toThrow("nothing else");
    },
  );
});

describe("a member named __proto__", () => {
  test("stays a member, in an input, in a literal and in an output", () => {
    const input = parse(
      '{"__proto__": {"$output": "x", "pointer": "/__proto__"}, "b": {"$literal": {"__proto__": 1}}}',
    );
    const resolved = resolveReferences(input, () => parse('{"__proto__": {"polluted": true}}'));
    expect(JSON.stringify(resolved)).toBe('{"__proto__":{"polluted":true},"b":{"__proto__":1}}');
    expect(Object.getPrototypeOf(resolved)).toBe(Object.prototype);
    expect(Reflect.get({}, "polluted")).toBeUndefined();
  });

  test("does not make a reference of an object that inherits one", () => {
    const value = parse('{"__proto__": {"$output": "x"}}');
    expect(referencesIn(value).references).toHaveLength(1);
    expect(resolveReferences(value, () => 5)).toEqual(parse('{"__proto__": 5}'));
  });
});

test("an input without references resolves to itself", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      fc.pre(jsonFault(value) === undefined);
      expect(resolveReferences(value as Json, () => null)).toEqual(value);
    }),
  );
});
