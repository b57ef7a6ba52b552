/** Values that the contract takes, and those that it refuses, for the tests of every way that a value goes. */
import fc from "fast-check";
import { type Json, jsonFault } from "../../shared/json.ts";
import { oddIds, oddTexts, reservedNames } from "../contract/odd-texts.ts";

const text = fc.oneof(
  fc.string({ unit: "binary", maxLength: 12 }),
  fc.string({ unit: "grapheme", maxLength: 8 }),
  fc.constantFrom(...oddTexts, ...oddIds, "\u2028\u2029", "\ufeff", "</script>", "-0", "NaN"),
);

/** Names that mean something to JavaScript, to JSON or to this project. */
const name = fc.oneof(
  text,
  fc.constantFrom(
    ...reservedNames,
    "__proto__",
    "constructor",
    "hasOwnProperty",
    "toString",
    "length",
    "$output",
    "$literal",
  ),
);

const number = fc.oneof(
  fc.maxSafeInteger(),
  fc.double({ noNaN: true, noDefaultInfinity: true }).filter((value) => jsonFault(value) === undefined),
  fc.constantFrom(0, 0.1, 1e-7, 5e-324, 2 ** 53 - 1, -(2 ** 53) + 1, 0.1 + 0.2, 1.5e9),
);

/** Whatever the contract takes, a few levels deep. */
export const acceptedJson: fc.Arbitrary<Json> = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, depthSize: "small", withCrossShrink: true },
    text,
    number,
    fc.boolean(),
    fc.constant(null),
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(name, tie("value"), { maxKeys: 4 }).map((members) => ({ ...members })),
    // As JSON.parse makes it: an own member, where an assignment would set the prototype.
    tie("value").map((inner): Json => JSON.parse(`{"__proto__":${JSON.stringify(inner)}}`)),
  ),
})).value;

class Money {
  readonly cents = 5;
}
const cyclic: { self?: unknown } = {};
cyclic.self = cyclic;

export type Refused = { readonly value: unknown; readonly path: string; readonly kind: string };

/** By what each is called; the path leads from the value itself. */
export const refused: Readonly<Record<string, Refused>> = {
  undefined: { value: undefined, path: "", kind: "undefined" },
  "a member that is undefined": { value: { a: undefined }, path: "/a", kind: "undefined" },
  NaN: { value: Number.NaN, path: "", kind: "NaN" },
  Infinity: { value: Number.POSITIVE_INFINITY, path: "", kind: "Infinity" },
  "-Infinity": { value: Number.NEGATIVE_INFINITY, path: "", kind: "-Infinity" },
  "what 1e400 is read as": { value: JSON.parse("[1e400]"), path: "/0", kind: "Infinity" },
  "-0": { value: -0, path: "", kind: "-0" },
  "what the text -0 is read as": { value: JSON.parse('{"n":-0}'), path: "/n", kind: "-0" },
  "2^53": { value: 2 ** 53, path: "", kind: "whole number beyond 2^53" },
  "a large order number": {
    value: JSON.parse('{"id":9007199254740993}'),
    path: "/id",
    kind: "whole number beyond 2^53",
  },
  "1e21": { value: 1e21, path: "", kind: "whole number beyond 2^53" },
  "a BigInt": { value: 1n, path: "", kind: "bigint" },
  "a Date": { value: { at: new Date(0) }, path: "/at", kind: "Date" },
  "a Map": { value: new Map([["a", 1]]), path: "", kind: "Map" },
  "a Set": { value: [new Set([1])], path: "/0", kind: "Set" },
  "bytes in an array": { value: new Uint8Array(2), path: "", kind: "Uint8Array" },
  "a Buffer": { value: Buffer.from("a"), path: "", kind: "Buffer" },
  "an Error": { value: new Error("x"), path: "", kind: "Error" },
  "a RegExp": { value: /x/, path: "", kind: "RegExp" },
  "a Promise": { value: Promise.resolve(1), path: "", kind: "Promise" },
  "an instance of a class": { value: { price: new Money() }, path: "/price", kind: "Money" },
  "an instance of a class without a name": { value: new (class {})(), path: "", kind: "class instance" },
  "a list of a class of its own": { value: new (class Rows extends Array<number> {})(1), path: "", kind: "Rows" },
  "a boxed number": { value: Object(5), path: "", kind: "Number" },
  "a function": { value: { call: () => 1 }, path: "/call", kind: "function" },
  "a symbol": { value: Symbol("s"), path: "", kind: "symbol" },
  "a member under a symbol": { value: { [Symbol("s")]: 1 }, path: "", kind: "symbol key" },
  "a cycle": { value: cyclic, path: "/self", kind: "cycle" },
  "half of a surrogate pair": { value: "\ud83d", path: "", kind: "lone surrogate" },
  "the other half, in a name": { value: { "\udc00": 1 }, path: "/\udc00", kind: "lone surrogate" },
  "a list with a hole": { value: Object.assign([1], { 2: 3 }), path: "/1", kind: "hole" },
  "a list that ends in holes": { value: Object.assign([], { length: 2 }), path: "/0", kind: "hole" },
  "a list with a member": { value: Object.assign([1], { total: 1 }), path: "/total", kind: "member of a list" },
  "a list with a member under a symbol": {
    value: Object.assign([1], { [Symbol("s")]: 1 }),
    path: "",
    kind: "symbol key",
  },
  "an object that writes itself": { value: { toJSON: () => 1 }, path: "", kind: "toJSON" },
  "a list that writes itself": { value: Object.assign([1], { toJSON: () => 1 }), path: "", kind: "toJSON" },
  "an object whose prototype writes it": {
    value: Object.create({ toJSON: () => 1 }),
    path: "",
    kind: "Object",
  },
  "a getter": {
    value: {
      get now() {
        return 1;
      },
    },
    path: "/now",
    kind: "getter",
  },
  "a setter alone": {
    value: Object.defineProperty({}, "x", { set: () => {}, enumerable: true }),
    path: "/x",
    kind: "getter",
  },
  "a getter in a list": { value: Object.defineProperty([1], 0, { get: () => 1 }), path: "/0", kind: "getter" },
  "a member that JSON leaves out": {
    value: Object.defineProperty({}, "id", { value: 1 }),
    path: "/id",
    kind: "hidden member",
  },
};
