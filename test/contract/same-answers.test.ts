/** Random writes to a few random items: the table in memory and the one in DynamoDB must answer alike, step by step. */
import { randomUUID } from "node:crypto";
import fc from "fast-check";
import { beforeAll, expect, inject, test } from "vitest";
import { dynamoTable } from "../../shared/adapters/dynamo-table.ts";
import { memoryTable } from "../../shared/adapters/memory-table.ts";
import type { Table } from "../../shared/ports.ts";
import type { Condition, Item, Key, Value, Write } from "../../shared/write.ts";
import { emulatorTable } from "./emulator-table.ts";
import { put, update } from "./table-contract.ts";

let dynamo: Table;
beforeAll(async () => {
  dynamo = dynamoTable(await emulatorTable(inject("endpoint")));
});

/** Each attribute has one kind, as in the model; so no write adds a number to text. */
const texts = ["status", "data"];
const numbers = ["epoch", "size"];
const sets = ["waiting_on"];

const text = fc.constantFrom("", "READY", "é", "\u{1f600}", "\uff5e");
const number = fc.integer({ min: -2, max: 3 });
const set = fc.uniqueArray(fc.integer({ min: 0, max: 3 }), { minLength: 1 }).map((members) => new Set(members));
const attributes: fc.Arbitrary<Item> = fc
  .tuple(
    fc.dictionary(fc.constantFrom(...texts), text, { maxKeys: 2 }),
    fc.dictionary(fc.constantFrom(...numbers), number, { maxKeys: 2 }),
    fc.dictionary(fc.constantFrom(...sets), set, { maxKeys: 1 }),
  )
  .map((parts): Item => Object.assign({}, ...parts));

const name = fc.constantFrom(...texts, ...numbers, ...sets, "pk");
const value: fc.Arbitrary<Value> = fc.oneof(text, number, set, fc.boolean());
const { condition } = fc.letrec<{ condition: Condition; plain: Condition }>((tie) => ({
  condition: fc.oneof(
    { maxDepth: 2 },
    tie("plain"),
    fc.record({
      anyOf: fc.array(fc.array(tie("condition"), { minLength: 1, maxLength: 2 }), { minLength: 1, maxLength: 2 }),
    }),
  ),
  plain: fc.oneof<fc.Arbitrary<Condition>[]>(
    fc.record({ attr: name, is: fc.constantFrom("exists", "missing") }),
    fc.record({ attr: name, is: fc.constantFrom("equal", "notEqual"), value }),
    fc.record({ attr: name, is: fc.constantFrom("below", "atMost", "above", "atLeast"), value: number }),
    fc.record({ attr: name, is: fc.constant("oneOf"), values: fc.array(text, { minLength: 1, maxLength: 3 }) }),
    fc
      .uniqueArray(name, { minLength: 2, maxLength: 2 })
      .map(([attr = "epoch", other = "size"]): Condition => ({ attr, is: "belowAttribute", other })),
  ),
}));

type Step = (pk: string) => Write;
const sk = fc.constantFrom("RUN", "NODE#a");
const conditions = fc.oneof(
  { weight: 2, arbitrary: fc.constant([]) },
  fc.array(condition, { minLength: 1, maxLength: 2 }),
);
const putStep = fc.tuple(sk, attributes, conditions).map(
  ([at, item, when]): Step =>
    (pk) =>
      put({ pk, sk: at }, item, when),
);

/** Each attribute goes into one section at most. */
const updateStep = fc
  .tuple(
    sk,
    conditions,
    attributes,
    fc.array(fc.constantFrom("set", "setIfMissing", "remove", "other"), { minLength: 5, maxLength: 5 }),
  )
  .map(([at, when, item, places]): Step => {
    const chosen = Object.entries(item).map(([attr, found], index) => ({ attr, found, place: places[index] }));
    const section = (place: string): Item =>
      Object.fromEntries(chosen.filter((one) => one.place === place).map(({ attr, found }) => [attr, found]));
    const other = Object.entries(section("other"));
    return (pk) =>
      update(
        { pk, sk: at },
        {
          set: { ...section("set"), touched: true },
          setIfMissing: section("setIfMissing"),
          remove: Object.keys(section("remove")),
          add: Object.fromEntries(other.flatMap(([attr, found]) => (typeof found === "number" ? [[attr, found]] : []))),
          deleteFromSet: Object.fromEntries(
            other.flatMap(([attr, found]) => (typeof found === "object" ? [[attr, found]] : [])),
          ),
          conditions: when,
        },
      );
  });
const step = fc.oneof({ weight: 1, arbitrary: putStep }, { weight: 2, arbitrary: updateStep });

test("the two tables answer random single writes alike and end with the same items", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 8 }), async (steps) => {
      const memory = memoryTable();
      const pk = `RUN#${randomUUID()}`;
      for (const make of steps) expect(await memory.write(make(pk))).toEqual(await dynamo.write(make(pk)));
      expect(await memory.query(pk, "")).toEqual(await dynamo.query(pk, ""));
    }),
    { numRuns: 150 },
  );
});

test("the two tables answer random transactions alike and end with the same items", async () => {
  const pair = fc.tuple(step, step, attributes, attributes);
  await fc.assert(
    fc.asyncProperty(pair, async ([first, second, runItem, nodeItem]) => {
      const memory = memoryTable();
      const pk = `RUN#${randomUUID()}`;
      const keys: readonly Key[] = [
        { pk, sk: "RUN" },
        { pk, sk: "NODE#a" },
      ];
      for (const table of [memory, dynamo]) {
        if (runItem.status !== undefined) await table.write(put({ pk, sk: "RUN" }, runItem));
        await table.write(put({ pk, sk: "NODE#a" }, nodeItem));
      }
      const writes = [first(pk), second(pk)].map((write, place) => ({ ...write, key: keys[place] ?? write.key }));
      expect(await memory.transact(writes)).toEqual(await dynamo.transact(writes));
      expect(await memory.query(pk, "")).toEqual(await dynamo.query(pk, ""));
    }),
    { numRuns: 150 },
  );
});
