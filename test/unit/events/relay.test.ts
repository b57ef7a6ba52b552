import type { AttributeValue, DynamoDBRecord } from "aws-lambda";
import { describe, expect, test } from "vitest";
import { relayHandler } from "../../../functions/events/relay.ts";
import { putOutbox } from "../../../shared/outbox.ts";
import type { Item, Key } from "../../../shared/write.ts";
import { itemOf, nodeWith, pendingWith, runWith, startMs, testWorld } from "../../support/world.ts";

const wire = (item: Item): Record<string, AttributeValue> =>
  Object.fromEntries(
    Object.entries(item).map(([name, value]) => {
      if (typeof value === "string") return [name, { S: value }];
      if (typeof value === "number") return [name, { N: String(value) }];
      if (typeof value === "boolean") return [name, { BOOL: value }];
      return [name, { NS: [...value].map(String) }];
    }),
  );
const record = (sequence: string, item: Item, eventName: "INSERT" | "MODIFY" = "INSERT"): DynamoDBRecord => ({
  eventID: sequence,
  eventName,
  dynamodb: { SequenceNumber: sequence, NewImage: wire(item) },
});
const entry = (nodeId: string, part: Item = {}): Item => {
  const { key, item } = putOutbox(
    "r",
    "g",
    nodeId,
    { messages: [{ nodeId, dispatchId: "d-0", notBeforeMs: 0 }] },
    startMs,
  );
  return { ...key, ...item, ...part };
};
const endOf = (advances: readonly string[]): Item => {
  const { key, item } = putOutbox(
    "r",
    "g",
    "1/end/a",
    { messages: [], ended: { ordinal: 0, failed: false, advances, advanceRun: true } },
    startMs,
  );
  return { ...key, ...item };
};

function setup(...items: readonly (Item & Key)[]) {
  const world = testWorld(...items);
  const handle = relayHandler(world);
  return {
    world,
    run: (...Records: readonly DynamoDBRecord[]) => world.clock.during(handle({ Records: [...Records] })),
    sentIds: () => world.queue.sent.map(({ dispatch }) => dispatch.node_id).sort(),
  };
}
const failures = (...ids: string[]) => ({ batchItemFailures: ids.map((itemIdentifier) => ({ itemIdentifier })) });

test("each entry of a batch is carried out", async () => {
  const { run, sentIds } = setup();
  expect(await run(record("1", entry("a")), record("2", entry("b")))).toEqual(failures());
  expect(sentIds()).toEqual(["a", "b"]);
});

test("an entry reads from the wire as it was written: ordinal, marks and advances", async () => {
  const { run, world, sentIds } = setup(itemOf(runWith()), itemOf(pendingWith()));
  expect(await run(record("1", endOf(["b"])))).toEqual(failures());
  expect(sentIds()).toEqual(["b"]);
  expect((await world.run()).status).toBe("SUCCEEDED");
});

describe("what the filter should have kept away is let be, since a filter is not trusted (I12)", () => {
  test.each<[string, DynamoDBRecord]>([
    [
      "a removal, as TTL makes them",
      { eventName: "REMOVE", dynamodb: { SequenceNumber: "1", OldImage: wire(entry("a")) } },
    ],
    ["a node", record("1", itemOf(nodeWith()), "MODIFY")],
    ["a run", record("1", itemOf(runWith()), "MODIFY")],
    ["an item without kind", record("1", { pk: "p", sk: "s" })],
    ["an item whose kind is a number", record("1", { pk: "p", sk: "s", kind: 5 })],
    ["a record without image", { eventName: "INSERT", dynamodb: { SequenceNumber: "1" } }],
    ["a record without anything", { eventName: "INSERT" }],
  ])("%s", async (_name, other) => {
    const { run, world, sentIds } = setup();
    expect(await run(other, record("2", entry("b")))).toEqual(failures());
    expect(sentIds()).toEqual(["b"]);
    expect(world.queue.rejected).toEqual([]);
  });
});

describe("an entry that cannot be read is set aside with its reason and blocks nobody (I13)", () => {
  test.each<[string, Item]>([
    ["another version", entry("a", { v: 2 })],
    ["messages that are no JSON", entry("a", { messages: "{" })],
    ["a dispatch that is none", entry("a", { messages: '[["a","x",0]]' })],
    ["advances of another shape", entry("a", { advances: "5" })],
    ["a missing run id", Object.fromEntries(Object.entries(entry("a")).filter(([name]) => name !== "run_id"))],
  ])("%s", async (_name, bad) => {
    const { run, world, sentIds } = setup();
    expect(await run(record("1", bad), record("2", entry("b")))).toEqual(failures());
    expect(sentIds()).toEqual(["b"]);
    expect(world.queue.rejected).toMatchObject([{ source: "stream", body: JSON.stringify(wire(bad)) }]);
    expect(world.queue.rejected[0]?.reason).not.toBe("");
    expect(world.counts.get("EntryRejected")).toBe(1);
  });

  test("and stays in the stream while it cannot be kept", async () => {
    const { run, world } = setup();
    world.queue.isDown = true;
    expect(await run(record("1", entry("a", { v: 2 })), record("2", entry("b")))).toEqual(failures("1"));
  });
});

describe("an entry that is not wholly done is reported by its sequence number, and no other", () => {
  test("a message that is not accepted", async () => {
    const { run, world, sentIds } = setup();
    world.queue.refuses = ({ dispatch }) => dispatch.node_id === "a";
    expect(await run(record("1", entry("a")), record("2", entry("b")))).toEqual(failures("1"));
    expect(sentIds()).toEqual(["b"]);
  });

  test("an advance that the table cannot make now", async () => {
    const { run, world, sentIds } = setup(itemOf(runWith()), itemOf(pendingWith()));
    world.table.strike("advance", "throws");
    expect(await run(record("1", endOf(["b"])), record("2", entry("c")))).toEqual(failures("1"));
    expect(await run(record("1", endOf(["b"])))).toEqual(failures());
    expect(sentIds()).toEqual(["b", "c"]);
  });
});
