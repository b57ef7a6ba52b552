import fc from "fast-check";
import { expect, test } from "vitest";
import { asciiJson } from "../../../shared/adapters/ascii-json.ts";

test("any value is written in printable ASCII and reads back the same, lone surrogates included", () => {
  const text = fc.string({
    unit: fc.oneof(
      fc.constantFrom("\ud800", "\udfff", "\u2028", "\ufffe", "\u007f", "\u0000"),
      fc.string({ unit: "binary", maxLength: 1 }),
    ),
  });
  fc.assert(
    fc.property(fc.dictionary(text, text), (value) => {
      const written = asciiJson(value);
      expect(written).toMatch(/^[\x20-\x7e]*$/);
      expect(JSON.parse(written)).toEqual(JSON.parse(JSON.stringify(value)));
    }),
  );
});

test("what JSON has no way to write is thrown", () => {
  expect(() => asciiJson(undefined)).toThrow("undefined");
});
