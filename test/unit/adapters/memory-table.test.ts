/** What the table in memory offers beyond a table; the rest is in the contract. */
import { expect, test } from "vitest";
import { type Applied, memoryTable } from "../../../shared/adapters/memory-table.ts";
import type { Key, Put } from "../../../shared/write.ts";

const key: Key = { pk: "RUN#r", sk: "RUN" };
const put = (at: Key, n: number): Put => ({ op: "put", name: "p", key: at, item: { n }, conditions: [] });

test("every applied write is told with its images, in order; a refused one is not", async () => {
  const told: Applied[] = [];
  const table = memoryTable({ onApplied: (applied) => told.push(applied) });
  await table.write(put(key, 1));
  await table.write({ ...put(key, 9), conditions: [{ attr: "n", is: "equal", value: 5 }] });
  const other = { ...key, sk: "NODE#a" };
  await table.transact([put(other, 2), { op: "update", name: "u", key, add: { n: 1 }, conditions: [] }]);
  await table.transact([put(other, 3), { ...put(key, 9), conditions: [{ attr: "n", is: "missing" }] }]);
  expect(told.map((applied) => [applied.write.name, applied.old, applied.new])).toEqual([
    ["p", undefined, { ...key, n: 1 }],
    ["p", undefined, { ...other, n: 2 }],
    ["u", { ...key, n: 1 }, { ...key, n: 2 }],
  ]);
});

test("a transaction whose last write cannot be made leaves nothing of its first", async () => {
  const told: Applied[] = [];
  const table = memoryTable({ items: [{ ...key, text: "t" }], onApplied: (applied) => told.push(applied) });
  const bad = { op: "update", name: "u", key, add: { text: 1 }, conditions: [] } as const;
  await expect(table.transact([put({ ...key, sk: "NODE#a" }, 1), bad])).rejects.toThrow("text is no number");
  expect([...table.items()]).toEqual([{ ...key, text: "t" }]);
  expect(told).toEqual([]);
});

test("a table begins with the items given and loses one that is removed", async () => {
  const table = memoryTable({ items: [{ ...key, set: new Set([1]) }] });
  expect(await table.get(key)).toEqual({ ...key, set: new Set([1]) });
  table.remove(key);
  expect(await table.get(key)).toBeUndefined();
  expect([...table.items()]).toEqual([]);
});

test("a write is decided when it is called, so of two calls the first wins", async () => {
  const table = memoryTable();
  const first = { ...put(key, 1), conditions: [{ attr: "pk", is: "missing" }] } as const;
  const [one, two] = await Promise.all([table.write(first), table.write({ ...first, item: { n: 2 } })]);
  expect(one.is).toBe("applied");
  expect(two).toEqual({ is: "refused", old: { ...key, n: 1 } });
});
