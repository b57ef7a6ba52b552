import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import { expect, test } from "vitest";
import { refusedItem, storedItem, streamImage } from "../../../shared/adapters/stored-item.ts";

const wire = { pk: { S: "p" }, n: { N: "-7" }, yes: { BOOL: false }, set: { NS: ["2", "1"] }, empty: { S: "" } };
const item = { pk: "p", n: -7, yes: false, set: new Set([1, 2]), empty: "" };

test("a refusal's old item and a stream's image read alike, and like what the document client gives", () => {
  expect(refusedItem(wire)).toEqual(item);
  expect(streamImage(wire)).toEqual(item);
  expect(storedItem(item)).toEqual(item);
});

test("a refusal without an item, or with an empty one, had none", () => {
  expect(refusedItem(undefined)).toBeUndefined();
  expect(refusedItem({})).toBeUndefined();
});

test.each<[string, Record<string, AttributeValue>]>([
  ["a list", { odd: { L: [] } }],
  ["a null", { odd: { NULL: true } }],
  ["a number that JavaScript would round", { odd: { N: "9007199254740993" } }],
  ["a set with such a number", { odd: { NS: ["1", "9007199254740993"] } }],
])("%s is thrown with its name", (_, raw) => {
  expect(() => refusedItem(raw)).toThrow("odd");
});

test.each([
  ["a list", []],
  ["a null", null],
  ["a big number", 9007199254740993n],
  ["a set of text", new Set(["a"])],
])("%s from the document client is thrown with its name", (_, odd) => {
  expect(() => storedItem({ odd })).toThrow("odd");
});
