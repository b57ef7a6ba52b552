import fc from "fast-check";
import { expect, test } from "vitest";
import {
  commandKey,
  dependentsKey,
  errorKey,
  hashOf,
  inputKey,
  nodeKey,
  nodePrefix,
  operationIdOf,
  outboxKey,
  outputKey,
  runKey,
  runPartition,
  scanShardOf,
} from "../../../shared/keys.ts";
import { fixed } from "../../../shared/limits.ts";
import type { Key } from "../../../shared/write.ts";

const text = (key: Key): string => JSON.stringify([key.pk, key.sk]);
/** Ids made of what could be mistaken for the keys' own parts. */
const trickyId = fc
  .array(fc.constantFrom("a", "b", "#", "1", "NODE#", "RUN", "RUN#", "OUTPUT#", "/", " "), {
    minLength: 1,
    maxLength: 4,
  })
  .map((parts) => parts.join(""));

test("run a with node b#c and run a#b with node c stand apart", () => {
  expect(text(nodeKey("a", "b#c"))).not.toBe(text(nodeKey("a#b", "c")));
  expect(operationIdOf("n", "a", "g", "b#c")).not.toBe(operationIdOf("n", "a#b", "g", "c"));
  expect(outboxKey("a", "g", "1/end/b").sk).not.toBe(outboxKey("a", "g1", "/end/b").sk);
});

test("no two items of any ids share a place", () => {
  const place = fc.oneof(
    fc.tuple(fc.constant("run"), trickyId),
    fc.tuple(fc.constantFrom("node", "input", "dependents"), trickyId, trickyId),
    fc.tuple(fc.constantFrom("output", "error"), trickyId, trickyId, fc.integer({ min: 0, max: 12 })),
    fc.tuple(fc.constant("command"), trickyId),
  );
  const keyOf = ([kind, id, nodeId = "", epoch = 0]: readonly [string, string, string?, number?]): Key => {
    const keys: Record<string, Key> = {
      run: runKey(id),
      node: nodeKey(id, nodeId),
      input: inputKey(id, nodeId),
      dependents: dependentsKey(id, nodeId),
      output: outputKey(id, nodeId, epoch),
      error: errorKey(id, nodeId, epoch),
      command: commandKey(id),
    };
    return keys[kind] ?? { pk: "", sk: "" };
  };
  fc.assert(
    fc.property(place, place, (left, right) => {
      expect(text(keyOf(left)) === text(keyOf(right))).toBe(JSON.stringify(left) === JSON.stringify(right));
    }),
    { numRuns: 2_000 },
  );
});

test("all items of a run are in its partition, and only nodes begin as nodes do", () => {
  for (const key of [
    inputKey("r", "n"),
    dependentsKey("r", "n"),
    outputKey("r", "n", 1),
    errorKey("r", "n", 1),
    runKey("r"),
  ]) {
    expect(key.pk).toBe(runPartition("r"));
    expect(key.sk.startsWith(nodePrefix)).toBe(false);
  }
  expect(nodeKey("r", "n").sk.startsWith(nodePrefix)).toBe(true);
  expect(outboxKey("r", "g", "start").pk).toBe(runPartition("r"));
});

test("an operation id is at most 64 ASCII characters, and differs by each of its parts (I5)", () => {
  const parts = ["n", "r", "g", "x"] as const;
  const id = operationIdOf(...parts);
  expect(id).toMatch(/^[\x21-\x7e]{1,64}$/);
  expect(operationIdOf(...parts)).toBe(id);
  expect(operationIdOf("名前".repeat(100), "é", "g", "x")).toMatch(/^[\x21-\x7e]{1,64}$/);
  const others = [
    operationIdOf("N", "r", "g", "x"),
    operationIdOf("n", "R", "g", "x"),
    operationIdOf("n", "r", "G", "x"),
    operationIdOf("n", "r", "g", "X"),
    operationIdOf("r", "n", "g", "x"),
  ];
  expect(new Set([id, ...others]).size).toBe(6);
});

test("a hash of a list is of that list only, however its parts are cut", () => {
  const lists = [["a", "b"], ["ab"], ["a,b"], ['a","b'], ["a", "", "b"], ["b", "a"], []];
  expect(new Set(lists.map(hashOf)).size).toBe(lists.length);
});

test("ids that look alike but have other characters (NFC and NFD) stand apart", () => {
  expect(text(nodeKey("r", "\u00e9"))).not.toBe(text(nodeKey("r", "e\u0301")));
  expect(hashOf(["\u00e9"])).not.toBe(hashOf(["e\u0301"]));
});

test("an entry's key is the same for the same cause, and differs by run, generation and cause", () => {
  expect(outboxKey("r", "g", "start")).toEqual(outboxKey("r", "g", "start"));
  const keys = [
    outboxKey("r", "g", "start"),
    outboxKey("r", "h", "start"),
    outboxKey("r", "g", "0/end/a"),
    outboxKey("s", "g", "start"),
  ];
  expect(new Set(keys.map((key) => key.sk)).size).toBe(4);
});

test("runs are spread over every shard and no other", () => {
  const shards = new Set(Array.from({ length: 1_000 }, (_, index) => scanShardOf(`run-${index}`)));
  expect([...shards].sort((left, right) => left - right)).toEqual(
    Array.from({ length: fixed.scanShards }, (_, shard) => shard),
  );
});
