/** What every table must do, whatever is beneath it. */
import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { nodeKey, nodePrefix, runPartition } from "../../shared/keys.ts";
import type { Table } from "../../shared/ports.ts";
import type { Condition, Item, Key, Put, Update } from "../../shared/write.ts";
import { conditionCases, sample } from "./condition-cases.ts";
import { oddIds, oddTexts, reservedNames } from "./odd-texts.ts";

export const freshKey = (sk = "RUN"): Key => ({ pk: `RUN#${randomUUID()}`, sk });
export const put = (key: Key, item: Item, conditions: readonly Condition[] = []): Put => ({
  op: "put",
  name: "test_put",
  key,
  item,
  conditions,
});
export const update = (key: Key, changes: Partial<Omit<Update, "op" | "key">>): Update => ({
  op: "update",
  name: "test_update",
  key,
  conditions: [],
  ...changes,
});

export function tableContract(makeTable: () => Table | Promise<Table>): void {
  describe("single writes", () => {
    test("a put without conditions replaces the whole item and answers with it, key included", async () => {
      const table = await makeTable();
      const key = freshKey();
      await table.write(put(key, { a: 1, b: "x" }));
      expect(await table.write(put(key, { b: "y", set: new Set([3]) }))).toEqual({
        is: "applied",
        item: { ...key, b: "y", set: new Set([3]) },
      });
      expect(await table.get(key)).toEqual({ ...key, b: "y", set: new Set([3]) });
    });

    test("a put that asks for a missing item is refused with the old item when there is one", async () => {
      const table = await makeTable();
      const key = freshKey();
      const first = put(key, { ...sample }, [{ attr: "pk", is: "missing" }]);
      expect((await table.write(first)).is).toBe("applied");
      expect(await table.write(first)).toEqual({ is: "refused", old: { ...key, ...sample } });
    });

    test("a put that asks for an existing item is refused without an old item when there is none", async () => {
      const table = await makeTable();
      expect(await table.write(put(freshKey(), { a: 1 }, [{ attr: "a", is: "exists" }]))).toEqual({
        is: "refused",
        old: undefined,
      });
    });

    test("an update of a missing item is refused and makes none, even where its conditions hold", async () => {
      const table = await makeTable();
      const key = freshKey();
      const write = update(key, { set: { a: 1 }, conditions: [{ attr: "a", is: "missing" }] });
      expect(await table.write(write)).toEqual({ is: "refused", old: undefined });
      expect(await table.get(key)).toBeUndefined();
    });

    test("an update changes what it names, keeps the rest and answers with the whole new item", async () => {
      const table = await makeTable();
      const key = freshKey();
      await table.write(put(key, { keep: "k", a: 1, gone: true, count: 2, has: "old", members: new Set([1, 2, 3]) }));
      const answer = await table.write(
        update(key, {
          set: { a: 2, fresh: new Set([9]) },
          setIfMissing: { has: "new", had_not: "new" },
          remove: ["gone", "never_was"],
          add: { count: 3, from_nothing: -4 },
          deleteFromSet: { members: new Set([2, 8]) },
        }),
      );
      const item = {
        ...key,
        keep: "k",
        a: 2,
        fresh: new Set([9]),
        has: "old",
        had_not: "new",
        count: 5,
        from_nothing: -4,
        members: new Set([1, 3]),
      };
      expect(answer).toEqual({ is: "applied", item });
      expect(await table.get(key)).toEqual(item);
    });

    test("a set loses its attribute with its last member, and deleting from a missing set changes nothing", async () => {
      const table = await makeTable();
      const key = freshKey();
      await table.write(put(key, { waiting_on: new Set([4, 5]) }));
      const write = update(key, { deleteFromSet: { waiting_on: new Set([4, 5]) } });
      expect(await table.write(write)).toEqual({ is: "applied", item: { ...key } });
      expect(await table.write(write)).toEqual({ is: "applied", item: { ...key } });
    });

    test("a refused update leaves the item as it was and shows it", async () => {
      const table = await makeTable();
      const key = freshKey();
      await table.write(put(key, sample));
      const answer = await table.write(
        update(key, { set: { n: 6 }, conditions: [{ attr: "n", is: "equal", value: 4 }] }),
      );
      expect(answer).toEqual({ is: "refused", old: { ...key, ...sample } });
      expect(await table.get(key)).toEqual({ ...key, ...sample });
    });

    test("what was handed in or out can be changed without changing the table", async () => {
      const table = await makeTable();
      const key = freshKey();
      const members = new Set([1]);
      await table.write(put(key, { members }));
      members.add(2);
      const read = await table.get(key);
      if (read?.members instanceof Set) read.members.add(3);
      expect(await table.get(key)).toEqual({ ...key, members: new Set([1]) });
    });

    test("of many claimants at once exactly one is applied, and each other sees the winner's mark", async () => {
      const table = await makeTable();
      const key = freshKey();
      await table.write(put(key, { status: "READY", epoch: 0 }));
      const claim = (who: number) =>
        table.write(
          update(key, {
            set: { status: "RUNNING", epoch: 1, claim_id: `c-${who}` },
            conditions: [
              { attr: "status", is: "equal", value: "READY" },
              { attr: "epoch", is: "equal", value: 0 },
            ],
          }),
        );
      const answers = await Promise.all(Array.from({ length: 20 }, (_, who) => claim(who)));
      const winners = answers.flatMap((answer) => (answer.is === "applied" ? [answer.item.claim_id] : []));
      expect(winners).toHaveLength(1);
      for (const answer of answers)
        if (answer.is !== "applied") expect(answer).toMatchObject({ is: "refused", old: { claim_id: winners[0] } });
    });
  });

  describe("conditions", () => {
    test.each(conditionCases)("%s: %o holds: %s", async (_, condition, expected) => {
      const table = await makeTable();
      const key = freshKey();
      await table.write(put(key, sample));
      const alone = await table.write(update(key, { set: { touched: true }, conditions: [condition] }));
      expect(alone.is).toBe(expected ? "applied" : "refused");
      const withAnother = update(key, {
        set: { touched: true },
        conditions: [condition, { attr: "gone", is: "exists" }],
      });
      expect((await table.write(withAnother)).is).toBe("refused");
    });

    test("an anyOf beside another condition is bound together: neither OR leaks out", async () => {
      const table = await makeTable();
      const key = freshKey();
      await table.write(put(key, sample));
      const conditions: Condition[] = [
        { attr: "n", is: "equal", value: 0 },
        { anyOf: [[{ attr: "text", is: "equal", value: "b" }], [{ attr: "yes", is: "equal", value: true }]] },
      ];
      expect((await table.write(update(key, { set: { n: 1 }, conditions }))).is).toBe("refused");
      expect((await table.write(update(key, { set: { n: 1 }, conditions: conditions.toReversed() }))).is).toBe(
        "refused",
      );
    });
  });

  describe("transactions", () => {
    test("all writes are applied together", async () => {
      const table = await makeTable();
      const key = freshKey("RUN");
      const other = { pk: key.pk, sk: "NODE#a" };
      await table.write(put(key, { n: 1, waiting_on: new Set([1]) }));
      const answer = await table.transact([
        update(key, { add: { n: 1 }, deleteFromSet: { waiting_on: new Set([1]) } }),
        put(other, { x: true }, [{ attr: "pk", is: "missing" }]),
      ]);
      expect(answer).toEqual({ is: "applied" });
      expect(await table.query(key.pk, "")).toEqual([
        { ...other, x: true },
        { ...key, n: 2 },
      ]);
    });

    test("one refusal refuses all, each in its place with its old item, and nothing is changed", async () => {
      const table = await makeTable();
      const [a, b, c, d] = ["A", "B", "C", "D"].map((sk) => ({ pk: "", sk }));
      const pk = freshKey().pk;
      const keys = [a, b, c, d].map((key) => ({ pk, sk: key?.sk ?? "" }));
      const at = (place: number): Key => keys[place] ?? freshKey();
      await table.write(put(at(0), { n: 1 }));
      await table.write(put(at(1), { ...sample }));
      const answer = await table.transact([
        update(at(0), { set: { n: 2 } }),
        put(at(1), { n: 3 }, [{ attr: "pk", is: "missing" }]),
        put(at(2), { n: 4 }),
        update(at(3), { set: { n: 5 } }),
      ]);
      expect(answer).toEqual({
        is: "refused",
        refusals: [null, { is: "refused", old: { ...at(1), ...sample } }, null, { is: "refused", old: undefined }],
      });
      expect(await table.query(pk, "")).toEqual([
        { ...at(0), n: 1 },
        { ...at(1), ...sample },
      ]);
    });

    test("of two commits at once exactly one is applied, the other is refused or busy and has changed nothing", async () => {
      const table = await makeTable();
      const key = freshKey("NODE#a");
      await table.write(put(key, { status: "RUNNING" }));
      const commit = (who: string) =>
        table.transact([
          update(key, {
            set: { status: "SUCCEEDED", by: who },
            conditions: [{ attr: "status", is: "equal", value: "RUNNING" }],
          }),
          put({ pk: key.pk, sk: `OUTBOX#${who}` }, { by: who }, [{ attr: "pk", is: "missing" }]),
        ]);
      const answers = await Promise.all(["x", "y", "z"].map(commit));
      expect(answers.filter((answer) => answer.is === "applied")).toHaveLength(1);
      const outbox = await table.query(key.pk, "OUTBOX#");
      expect(outbox).toHaveLength(1);
      expect((await table.get(key))?.by).toBe(outbox[0]?.by);
    });

    test("100 writes are taken; 101, none, and two on one item are mistakes", async () => {
      const table = await makeTable();
      const pk = freshKey().pk;
      const puts = Array.from({ length: 101 }, (_, n) => put({ pk, sk: `NODE#${n}` }, { n }));
      expect(await table.transact(puts.slice(1))).toEqual({ is: "applied" });
      expect(await table.query(pk, "NODE#")).toHaveLength(100);
      await expect(table.transact(puts)).rejects.toThrow("1 to 100 writes, not 101");
      await expect(table.transact([])).rejects.toThrow("not 0");
      const key = freshKey();
      await expect(table.transact([put(key, { n: 1 }), update(key, { set: { n: 2 } })])).rejects.toThrow("twice");
    });
  });

  describe("names and values", () => {
    test.each(oddIds)("a node named %j is found under its own name and no other", async (id) => {
      const table = await makeTable();
      const runId = `${id.slice(0, 32).toWellFormed()}-${randomUUID()}`;
      const key = nodeKey(runId, id);
      await table.write(put(key, { node_id: id }));
      expect(await table.get(key)).toEqual({ ...key, node_id: id });
      expect(await table.query(runPartition(runId), nodePrefix)).toEqual([{ ...key, node_id: id }]);
      expect(await table.query(runPartition(runId), key.sk)).toHaveLength(1);
      expect(await table.get(nodeKey(runId, `${id}x`))).toBeUndefined();
    });

    test("look-alikes in two Unicode forms are two nodes, and sort keys come in the order of their UTF-8 bytes", async () => {
      const table = await makeTable();
      const pk = freshKey().pk;
      const ids = ["\u{1f600}", "\uff5e", "\u00e9", "e\u0301", "Z", "a"];
      for (const id of ids) await table.write(put({ pk, sk: id }, { id }));
      const found = await table.query(pk, "");
      expect(found.map((item) => item.id)).toEqual(["Z", "a", "e\u0301", "\u00e9", "\uff5e", "\u{1f600}"]);
    });

    test.each(reservedNames)("an attribute may be called %j everywhere", async (name) => {
      const table = await makeTable();
      const key = freshKey();
      await table.write(put(key, { [name]: 1 }));
      const met = update(key, { add: { [name]: 1 }, conditions: [{ attr: name, is: "equal", value: 1 }] });
      expect(await table.write(met)).toEqual({ is: "applied", item: { ...key, [name]: 2 } });
      expect(await table.write(met)).toEqual({ is: "refused", old: { ...key, [name]: 2 } });
      expect((await table.write(update(key, { setIfMissing: { [name]: 9 } }))).is).toBe("applied");
      expect(await table.write(update(key, { remove: [name] }))).toEqual({ is: "applied", item: { ...key } });
      const sets = update(key, { set: { [name]: new Set([1]) } });
      expect(await table.write(sets)).toEqual({ is: "applied", item: { ...key, [name]: new Set([1]) } });
      const empties = update(key, { deleteFromSet: { [name]: new Set([1]) } });
      expect(await table.write(empties)).toEqual({ is: "applied", item: { ...key } });
    });

    test.each(oddTexts)("the text %j comes back as it was and equals itself", async (text) => {
      const table = await makeTable();
      const key = freshKey();
      await table.write(put(key, { text }));
      const same = update(key, {
        set: { copy: text },
        conditions: [
          { attr: "text", is: "equal", value: text },
          { attr: "text", is: "oneOf", values: ["other", text] },
        ],
      });
      expect(await table.write(same)).toEqual({ is: "applied", item: { ...key, text, copy: text } });
      expect(await table.write(put(key, { n: 1 }, [{ attr: "pk", is: "missing" }]))).toEqual({
        is: "refused",
        old: { ...key, text, copy: text },
      });
    });

    test("numbers up to 2^53 - 1, zero and negatives come back exactly; -0 becomes 0", async () => {
      const table = await makeTable();
      const key = freshKey();
      const item = {
        max: Number.MAX_SAFE_INTEGER,
        min: Number.MIN_SAFE_INTEGER,
        zero: 0,
        set: new Set([-1, 0, 2 ** 53 - 1]),
      };
      await table.write(put(key, { ...item, minus_zero: -0 }));
      expect(await table.get(key)).toEqual({ ...key, ...item, minus_zero: 0 });
    });

    test.each<[string, Put | Update]>([
      ["an empty set", put(freshKey(), { s: new Set<number>() })],
      ["a fraction", put(freshKey(), { n: 1.5 })],
      ["NaN", put(freshKey(), { n: Number.NaN })],
      ["a number over 2^53 - 1", put(freshKey(), { n: 2 ** 53 })],
      ["a lone surrogate", put(freshKey(), { t: "\ud800" })],
      ["an item over 400 KB", put(freshKey(), { t: "x".repeat(400 * 1_024) })],
      ["an empty key", put({ pk: "", sk: "a" }, {})],
      ["a sort key over 1,024 bytes", put(freshKey("é".repeat(513)), {})],
      ["a key attribute in a put", put(freshKey(), { pk: "x" })],
      ["a key attribute in an update", update(freshKey(), { set: { sk: "x" } })],
      ["an update that changes nothing", update(freshKey(), {})],
      ["an attribute changed twice", update(freshKey(), { set: { a: 1 }, remove: ["a"] })],
      ["a choice of nothing", put(freshKey(), {}, [{ attr: "a", is: "oneOf", values: [] }])],
      ["an anyOf of nothing", put(freshKey(), {}, [{ anyOf: [] }])],
    ])("%s is a mistake that is thrown, not an answer", async (_, write) => {
      const table = await makeTable();
      await expect(table.write(write)).rejects.toThrow(write.name);
      await expect(table.transact([write])).rejects.toThrow(write.name);
    });

    test("adding to text, and an update that makes an item larger than 400 KB, are thrown and change nothing", async () => {
      const table = await makeTable();
      const key = freshKey();
      const item = { text: "t", big: "x".repeat(300 * 1_024) };
      await table.write(put(key, item));
      await expect(table.write(update(key, { add: { text: 1 } }))).rejects.toThrow();
      await expect(table.write(update(key, { deleteFromSet: { text: new Set([1]) } }))).rejects.toThrow();
      const grows = update(key, { set: { more: "x".repeat(150 * 1_024) } });
      await expect(table.write(grows)).rejects.toThrow();
      await expect(table.transact([grows, put(freshKey(), { a: 1 })])).rejects.toThrow();
      expect(await table.get(key)).toEqual({ ...key, ...item });
    });
  });

  describe("reads", () => {
    test("a missing item is undefined, a missing partition empty", async () => {
      const table = await makeTable();
      expect(await table.get(freshKey())).toBeUndefined();
      expect(await table.query(freshKey().pk, "NODE#")).toEqual([]);
    });

    test("a query gives one partition's items of one prefix, all pages of them", async () => {
      const table = await makeTable();
      const pk = freshKey().pk;
      const filler = "x".repeat(300 * 1_024);
      for (let n = 0; n < 8; n += 1) await table.write(put({ pk, sk: `NODE#${n}` }, { n, filler }));
      await table.write(put({ pk, sk: "RUN" }, {}));
      await table.write(put({ pk: `${pk}x`, sk: "NODE#9" }, {}));
      const found = await table.query(pk, "NODE#");
      expect(found.map((item) => item.n)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    });

    test("due runs come earliest first, no more than asked for, and only of their shard and time", async () => {
      const table = await makeTable();
      const shard = Math.floor(Math.random() * 1e9) + 100;
      const run = async (name: string, atMs: number, at = shard): Promise<string> => {
        const key = freshKey();
        await table.write(put({ ...key, pk: `${key.pk}-${name}` }, { scan_shard: at, scan_at_ms: atMs }));
        return `${key.pk}-${name}`;
      };
      const third = await run("third", 30);
      const first = await run("first", 10);
      const second = await run("second", 20);
      await run("later", 31);
      await run("elsewhere", 10, shard + 1);
      expect(await table.dueRuns(shard, 30, 10)).toEqual([first, second, third]);
      expect(await table.dueRuns(shard, 30, 2)).toEqual([first, second]);
      expect(await table.dueRuns(shard, 9, 10)).toEqual([]);
    });

    test("a run that ends leaves the index when its two attributes are removed, and moves when its time does", async () => {
      const table = await makeTable();
      const shard = Math.floor(Math.random() * 1e9) + 100;
      const key = freshKey();
      await table.write(put(key, { scan_shard: shard, scan_at_ms: 10 }));
      await table.write(update(key, { set: { scan_at_ms: 50 } }));
      expect(await table.dueRuns(shard, 49, 10)).toEqual([]);
      expect(await table.dueRuns(shard, 50, 10)).toEqual([key.pk]);
      await table.write(update(key, { remove: ["scan_shard", "scan_at_ms"] }));
      expect(await table.dueRuns(shard, 99, 10)).toEqual([]);
    });
  });
}
