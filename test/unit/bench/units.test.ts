/** The arithmetic of the bench, against sizes and prices that were worked out by hand. */
import { describe, expect, test } from "vitest";
import type { Item, Key, Write } from "../../../shared/write.ts";
import { countingTable } from "../../bench/report/counting-table.ts";
import { noTally, type Tally } from "../../bench/report/tally.ts";
import {
  bytesOf,
  indexReadUnits,
  indexUnits,
  strongReadUnits,
  transactUnits,
  writeUnits,
} from "../../bench/report/units.ts";

const key: Key = { pk: "RUN#r", sk: "NODE#a" };
/** pk 2 + 5, sk 2 + 6, status 6 + 5, epoch 5 + 1 + 1 (two digits a byte, and one more), done 4 + 1. */
const small: Item = { ...key, status: "READY", epoch: 12, done: true };
const smallBytes = 7 + 8 + 11 + 7 + 5;
/** Exactly so large, by a text of one-byte characters under a name of four. */
const ofBytes = (bytes: number): Item => ({ ...small, text: "x".repeat(bytes - smallBytes - 4) });

describe("units", () => {
  test("an item weighs its names and its values", () => {
    expect(bytesOf(small)).toBe(smallBytes);
    expect(bytesOf(ofBytes(1_024))).toBe(1_024);
  });

  test("a write costs one unit for each started KB of the larger of before and after", () => {
    expect(writeUnits(undefined, small)).toBe(1);
    expect(writeUnits(undefined, ofBytes(1_024))).toBe(1);
    expect(writeUnits(undefined, ofBytes(1_025))).toBe(2);
    expect(writeUnits(ofBytes(2_049), small)).toBe(3);
  });

  test("in a transaction the same write costs twice", () => {
    expect(transactUnits(undefined, ofBytes(1_025))).toBe(4);
  });

  test("a strong read costs one unit for each started 4 KB, and one where nothing is found", () => {
    expect([0, 1, 4_096, 4_097].map(strongReadUnits)).toEqual([1, 1, 1, 2]);
    expect([0, 4_096, 4_097].map(indexReadUnits)).toEqual([0.5, 0.5, 1]);
  });

  test("an index entry that comes or goes costs one, one that moves two, one that stays none", () => {
    const living = { ...small, scan_shard: 3, scan_at_ms: 60_000 };
    expect(indexUnits(undefined, small)).toBe(0);
    expect(indexUnits(undefined, living)).toBe(1);
    expect(indexUnits(living, small)).toBe(1);
    expect(indexUnits(living, { ...living, scan_at_ms: 120_000 })).toBe(2);
    expect(indexUnits(living, { ...living, status: "RUNNING" })).toBe(0);
  });
});

describe("the counting table", () => {
  const put = (at: Key, conditions: Write["conditions"] = []): Write => ({
    op: "put",
    name: "make",
    key: at,
    item: { text: "x".repeat(1_500) },
    conditions,
  });
  const counted = (part: Partial<Tally>): Tally => ({ ...noTally(), ...part });

  test("a write is charged to whoever made it, also where it is refused", async () => {
    const table = countingTable();
    const [maker, late, reader] = [noTally(), noTally(), noTally()];
    await table.for(maker).write(put(key));
    await table.for(late).write(put(key, [{ attr: "pk", is: "missing" }]));
    await table.for(reader).get(key);
    expect(maker).toEqual(counted({ PutItem: 1, writeUnits: 2 }));
    expect(late).toEqual(counted({ PutItem: 1, writeUnits: 2 }));
    expect(reader).toEqual(counted({ GetItem: 1, readUnits: 1 }));
  });

  test("a cancelled transaction costs what it would have cost", async () => {
    const table = countingTable();
    const other = { pk: "RUN#r", sk: "NODE#b" };
    const [first, cancelled] = [noTally(), noTally()];
    await table.for(first).transact([put(key)]);
    await table.for(cancelled).transact([put(other), put(key, [{ attr: "pk", is: "missing" }])]);
    expect(first).toEqual(counted({ TransactWriteItems: 1, transactActions: 1, writeUnits: 4 }));
    expect(cancelled).toEqual(counted({ TransactWriteItems: 1, transactActions: 2, writeUnits: 8 }));
  });

  test("a query is charged for all items of its pages together", async () => {
    const table = countingTable();
    const places = [1, 2, 3].map((place) => ({ pk: "RUN#r", sk: `NODE#${place}` }));
    for (const place of places) await table.for(noTally()).write(put(place));
    const reader = noTally();
    await table.for(reader).query("RUN#r", "NODE#");
    expect(reader).toEqual(counted({ Query: 1, readUnits: 2 }));
  });
});
