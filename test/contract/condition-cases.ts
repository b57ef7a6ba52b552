/** Each kind of condition, tried on one item. */
import type { Condition, Item } from "../../shared/write.ts";

/** Attributes of every kind. */
export const sample: Item = { text: "b", n: 5, m: 7, yes: true, members: new Set([1, 2]) };

export const conditionCases: readonly (readonly [string, Condition, boolean])[] = [
  ["exists, of an attribute that is there", { attr: "text", is: "exists" }, true],
  ["exists, of a missing one", { attr: "gone", is: "exists" }, false],
  ["missing, of one that is there", { attr: "text", is: "missing" }, false],
  ["missing, of a missing one", { attr: "gone", is: "missing" }, true],
  ["equal text", { attr: "text", is: "equal", value: "b" }, true],
  ["equal to other text", { attr: "text", is: "equal", value: "B" }, false],
  ["equal number", { attr: "n", is: "equal", value: 5 }, true],
  ["a number equal to its text", { attr: "n", is: "equal", value: "5" }, false],
  ["equal boolean", { attr: "yes", is: "equal", value: true }, true],
  ["equal set in another order", { attr: "members", is: "equal", value: new Set([2, 1]) }, true],
  ["equal to a part of the set", { attr: "members", is: "equal", value: new Set([1]) }, false],
  ["equal, of a missing one", { attr: "gone", is: "equal", value: 1 }, false],
  ["notEqual to other text", { attr: "text", is: "notEqual", value: "a" }, true],
  ["notEqual to the same text", { attr: "text", is: "notEqual", value: "b" }, false],
  ["notEqual to another kind", { attr: "n", is: "notEqual", value: "5" }, true],
  ["notEqual, of a missing one", { attr: "gone", is: "notEqual", value: 1 }, false],
  ["below", { attr: "n", is: "below", value: 6 }, true],
  ["below the same", { attr: "n", is: "below", value: 5 }, false],
  ["below, of text", { attr: "text", is: "below", value: 6 }, false],
  ["below, of a missing one", { attr: "gone", is: "below", value: 6 }, false],
  ["atMost the same", { attr: "n", is: "atMost", value: 5 }, true],
  ["atMost less", { attr: "n", is: "atMost", value: 4 }, false],
  ["atMost, of a missing one", { attr: "gone", is: "atMost", value: 4 }, false],
  ["above", { attr: "n", is: "above", value: 4 }, true],
  ["above the same", { attr: "n", is: "above", value: 5 }, false],
  ["above, of a missing one", { attr: "gone", is: "above", value: -1 }, false],
  ["atLeast the same", { attr: "n", is: "atLeast", value: 5 }, true],
  ["atLeast more", { attr: "n", is: "atLeast", value: 6 }, false],
  ["atLeast, of a missing one", { attr: "gone", is: "atLeast", value: -1 }, false],
  ["oneOf that has it", { attr: "text", is: "oneOf", values: ["a", "b"] }, true],
  ["oneOf that has it not", { attr: "text", is: "oneOf", values: ["a"] }, false],
  ["oneOf, of a missing one", { attr: "gone", is: "oneOf", values: ["a"] }, false],
  ["belowAttribute", { attr: "n", is: "belowAttribute", other: "m" }, true],
  ["belowAttribute the other way", { attr: "m", is: "belowAttribute", other: "n" }, false],
  ["belowAttribute of another kind", { attr: "n", is: "belowAttribute", other: "text" }, false],
  ["belowAttribute where the other is missing", { attr: "n", is: "belowAttribute", other: "gone" }, false],
  [
    "anyOf whose second alternative holds",
    {
      anyOf: [
        [
          { attr: "text", is: "equal", value: "b" },
          { attr: "n", is: "above", value: 5 },
        ],
        [{ anyOf: [[{ attr: "gone", is: "exists" }], [{ attr: "yes", is: "equal", value: true }]] }],
      ],
    },
    true,
  ],
  ["anyOf of one that holds", { anyOf: [[{ attr: "text", is: "notEqual", value: "x" }]] }, true],
  [
    "anyOf of one, of one, of two",
    {
      anyOf: [
        [{ anyOf: [[{ anyOf: [[{ attr: "gone", is: "exists" }], [{ attr: "n", is: "notEqual", value: 1 }]] }]] }],
      ],
    },
    true,
  ],
  [
    "anyOf whose alternatives each hold by half",
    {
      anyOf: [
        [
          { attr: "text", is: "equal", value: "b" },
          { attr: "n", is: "above", value: 5 },
        ],
        [
          { attr: "text", is: "equal", value: "c" },
          { attr: "n", is: "equal", value: 5 },
        ],
      ],
    },
    false,
  ],
];
