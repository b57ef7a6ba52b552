import { expect, test } from "vitest";
import { rejectionMessages } from "../../../shared/adapters/rejection-messages.ts";
import { isSendable, piecesOf, readable, utf8Bytes } from "../../../shared/adapters/sqs-text.ts";
import { fixed } from "../../../shared/limits.ts";

const rejection = { body: "b", source: "commands", reason: "r" };
const bytesOf = (message: ReturnType<typeof rejectionMessages>[number]): number =>
  utf8Bytes(message.body) +
  Object.entries(message.attributes).reduce((sum, [name, value]) => sum + utf8Bytes(`${name}String${value}`), 0);

test("a body is cut only where body and attributes together pass the limit, to the byte", () => {
  const room =
    fixed.messageBytes - (bytesOf(rejectionMessages(rejection, "id")[0] ?? { body: "", attributes: {} }) - 1);
  const [fits, ...none] = rejectionMessages({ ...rejection, body: "x".repeat(room) }, "id");
  expect(none).toEqual([]);
  expect(fits && bytesOf(fits)).toBe(fixed.messageBytes);
  const parts = rejectionMessages({ ...rejection, body: "x".repeat(room + 1) }, "id");
  expect(parts.map((part) => part.attributes.part)).toEqual(["1/2", "2/2"]);
  for (const part of parts) expect(bytesOf(part)).toBeLessThanOrEqual(fixed.messageBytes);
});

test("a body that grows by escaping becomes as many parts as it needs, and they make the JSON text of it", () => {
  const body = `\u0000${"é".repeat(fixed.messageBytes / 2)}`;
  const parts = rejectionMessages({ ...rejection, body }, "id");
  expect(parts.map((part) => part.attributes.part)).toEqual(["1/4", "2/4", "3/4", "4/4"]);
  for (const part of parts) expect(part.attributes.escaped).toBe("true");
  expect(JSON.parse(parts.map((part) => part.body).join("")) === body).toBe(true);
});

test("pieces never end inside a surrogate pair", () => {
  expect(piecesOf("a\u{1f600}\u{1f600}b", 5)).toEqual(["a\u{1f600}", "\u{1f600}b"]);
  expect(piecesOf("\u{1f600}\u{1f600}", 4)).toEqual(["\u{1f600}", "\u{1f600}"]);
  expect(piecesOf("", 4)).toEqual([""]);
});

test("a reason is bounded in bytes and never empty", () => {
  expect(utf8Bytes(readable("é".repeat(100), 33))).toBe(32);
  expect(readable("", 10)).toBe("-");
  expect(readable("a\u0000\u{1f600}\ud83d", 20)).toBe("a\ufffd\u{1f600}\ufffd");
});

test.each([
  ["a\tb\r\n \ud7ff\ue000\ufffd\u{10000}\u{10ffff}", true],
  ["", false],
  ["\u0008", false],
  ["\u000b", false],
  ["\ufffe", false],
  ["\uffff", false],
  ["\udc00", false],
])("whether %j can be sent: %s", (text, sendable) => {
  expect(isSendable(text)).toBe(sendable);
});
