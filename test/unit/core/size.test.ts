import { expect, test } from "vitest";
import { fitsInside, itemBytes } from "../../../shared/size.ts";

test("an item weighs its names and its values in bytes of UTF-8, and what is missing weighs nothing", () => {
  expect(itemBytes({})).toBe(0);
  expect(itemBytes({ ab: "cde" })).toBe(5);
  expect(itemBytes({ é: "名" })).toBe(2 + 3);
  expect(itemBytes({ a: true, b: undefined })).toBe(2);
  expect(itemBytes({ n: 0 })).toBe(1 + 2);
  expect(itemBytes({ n: 123 })).toBe(1 + 3);
  expect(itemBytes({ n: -123 })).toBe(1 + 4);
  expect(itemBytes({ s: new Set([1, 22]) })).toBe(1 + 3 + 3 + 3);
});

test("a time of today is not underestimated: 13 digits are 7 bytes and one more", () => {
  expect(itemBytes({ t: 1_800_000_000_000 })).toBe(1 + 8);
});

test("a text fits up to the last byte of a write unit, name and reserve counted, and not one byte further", () => {
  const item = { pk: "p", sk: "s" };
  const room = 1_024 - itemBytes(item) - "input".length - 100;
  expect(fitsInside(item, "input", "x".repeat(room), 100)).toBe(true);
  expect(fitsInside(item, "input", "x".repeat(room + 1), 100)).toBe(false);
  expect(fitsInside(item, "input", "x".repeat(room), 101)).toBe(false);
  expect(fitsInside(item, "input", "é".repeat(Math.floor(room / 2) + 1), 100)).toBe(false);
});
