import { describe, expect, test } from "vitest";
import {
  dispatchIdSchema,
  idSchema,
  isLiving,
  isTerminal,
  nodeItemSchema,
  nodeStatusSchema,
  readItem,
  runStatusSchema,
} from "../../../shared/model.ts";
import { poolNameSchema, toolNameSchema } from "../../../shared/names.ts";
import { itemOf, nodeWith } from "../../support/world.ts";

describe("an id", () => {
  test.each(["a", " ", "#", "NODE#a", "a/b", "名前", "é", "😀", "__proto__", "\u200b", "é".repeat(128)])(
    "%j is one, and stays as it is",
    (id) => {
      expect(idSchema.parse(id)).toBe(id);
    },
  );

  test.each<[string, string, string]>([
    ["nothing", "", "must not be empty"],
    ["257 bytes in 129 characters", `${"é".repeat(128)}x`, "must be at most 256 bytes of UTF-8 (it has 257)"],
    ["half of a pair", "a\udc00", "well-formed"],
    ["NUL", "a\u0000", "control"],
    ["a line feed", "a\nb", "control"],
    ["DEL", "\u007f", "control"],
    ["a control character of Latin-1", "\u0085", "control"],
    ["a noncharacter", "\ufffe", "noncharacter"],
    ["a noncharacter of another plane", "\u{1fffe}", "noncharacter"],
    ["a noncharacter in the middle of Arabic", "\ufdd0", "noncharacter"],
  ])("%s is none, and the reason is told", (_name, id, says) => {
    expect(idSchema.safeParse(id).error?.issues[0]?.message).toContain(says);
  });
});

test("a tool's name is 1 to 64 of the plain characters", () => {
  for (const name of ["a", "buy-voucher", "A.b_c-9", "x".repeat(64)])
    expect(toolNameSchema.safeParse(name).success).toBe(true);
  for (const name of ["", "x".repeat(65), "a b", "a/b", "é", "a\n"])
    expect(toolNameSchema.safeParse(name).success).toBe(false);
});

test("a pool's name is 1 to 40 of what a construct's id keeps", () => {
  for (const name of ["a", "heavy", "GPU-2", "constructor", "x".repeat(40)])
    expect(poolNameSchema.safeParse(name).success).toBe(true);
  for (const name of ["", "x".repeat(41), "a b", "a_b", "a.b", "é", "a\n", "__proto__"])
    expect(poolNameSchema.safeParse(name).success).toBe(false);
});

test("a dispatch is named in one way only", () => {
  for (const id of ["d-0", "d-1", "d-10", "d-999999999999999"])
    expect(dispatchIdSchema.safeParse(id).success).toBe(true);
  for (const id of ["d-", "d-01", "d--1", "d-1.0", "D-1", "d-1 ", "d-1\n", "1", "d-1000000000000000"])
    expect(dispatchIdSchema.safeParse(id).success).toBe(false);
});

test("a node has ended in five states, and a run lives in two", () => {
  expect(nodeStatusSchema.options.filter(isTerminal)).toEqual([
    "SUCCEEDED",
    "FAILED",
    "CANCELLED",
    "EXPIRED",
    "SKIPPED",
  ]);
  expect(runStatusSchema.options.filter(isLiving)).toEqual(["RUNNING", "CANCELLING"]);
});

describe("an item that is read back", () => {
  test("of another version is not guessed at, and the error names item and field", () => {
    expect(() => readItem(nodeItemSchema, { ...itemOf(nodeWith()), v: 2 })).toThrow(
      /stored item \{"pk":"RUN#r","sk":"NODE#a"\} is not what this version can read: v /,
    );
  });

  test.each([undefined, null, 5, "text"])("that is %j is refused", (item) => {
    expect(() => readItem(nodeItemSchema, item)).toThrow("stored item ? is not");
  });

  test("from before there were pools has none, and one of a pool keeps it", () => {
    expect(readItem(nodeItemSchema, itemOf(nodeWith()))).not.toHaveProperty("pool");
    expect(readItem(nodeItemSchema, itemOf(nodeWith({ pool: "heavy" })))).toHaveProperty("pool", "heavy");
    for (const pool of ["", "a b", 5])
      expect(() => readItem(nodeItemSchema, { ...itemOf(nodeWith()), pool })).toThrow(
        "not what this version can read: pool ",
      );
  });

  test("with a number that is none, or a negative epoch, is refused", () => {
    for (const part of [{ epoch: -1 }, { epoch: 1.5 }, { epoch: "1" }, { waiting_on: [0] }, { status: "DONE" }])
      expect(() => readItem(nodeItemSchema, { ...itemOf(nodeWith()), ...part })).toThrow(
        "not what this version can read",
      );
  });
});
