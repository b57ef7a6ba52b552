/** The relay's and the scanner's way on: whoever finds the set empty goes on, as often as it is looked at (I11). */
import { describe, expect, test } from "vitest";
import { advanceNode, advanceTheRun, type Ended } from "../../../shared/advance.ts";
import { readItem } from "../../../shared/model.ts";
import { outboxItemSchema, putOutbox } from "../../../shared/outbox.ts";
import { readEntry, relayEntry } from "../../../shared/relay.ts";
import type { Item, Key } from "../../../shared/write.ts";
import { itemOf, nodeWith, pendingWith, runWith, startMs, type TestWorld, testWorld } from "../../support/world.ts";

const ended = (part: Partial<Ended> = {}): Ended => ({
  runId: "r",
  generation: "g",
  ordinals: new Set([0]),
  failed: false,
  ...part,
});
const message = (nodeId = "b") => ({ dispatch: { run_id: "r", node_id: nodeId, dispatch_id: "d-0" }, delayMs: 0 });

function setup(...items: readonly (Item & Key)[]) {
  const world = testWorld(...items);
  return {
    world,
    advance: (part: Partial<Ended> = {}, nodeId = "b") => world.clock.during(advanceNode(world, ended(part), nodeId)),
  };
}

const entryWith = (intent: Parameters<typeof putOutbox>[3], part: Partial<Item> = {}) => {
  const write = putOutbox("r", "g", "1/end/a", intent, startMs);
  return readEntry({ ...write.key, ...write.item, ...part });
};
const endOf = (advances: readonly string[], part: { failed?: boolean; advanceRun?: boolean; ordinal?: number } = {}) =>
  entryWith({ messages: [], ended: { ordinal: 0, failed: false, advanceRun: false, ...part, advances } });
/** Carries out every entry that stands in the table until none makes another. */
const carryOutAll = async (world: TestWorld): Promise<void> => {
  for (let seen = -1; seen !== world.entries().length; ) {
    seen = world.entries().length;
    for (const entry of world.entries()) await relayEntry(world, readEntry(entry));
  }
};

describe("a node that waits", () => {
  test("for several becomes READY when the last has ended, and not before", async () => {
    const { world, advance } = setup(itemOf(pendingWith({ waiting_on: new Set([0, 3]) })));
    expect(await advance()).toEqual([]);
    expect(await world.node("b")).toMatchObject({ status: "PENDING", waiting_on: new Set([3]) });
    expect(await advance()).toEqual([]);
    expect(await advance({ ordinals: new Set([3]) })).toEqual([message()]);
    expect(await world.node("b")).toMatchObject({ status: "READY", ready_at_ms: startMs, not_before_ms: 0 });
  });

  test("is sent again by each later pass, since the first may have died before it sent, and stays as it is", async () => {
    const { world, advance } = setup(itemOf(pendingWith()));
    await advance();
    const before = await world.node("b");
    expect(await advance()).toEqual([message()]);
    expect(await advance()).toEqual([message()]);
    expect(await world.node("b")).toEqual(before);
  });

  test("whose set another pass emptied before it died is made READY by whoever finds it empty", async () => {
    const { world, advance } = setup(itemOf(pendingWith({ waiting_on: undefined })));
    expect(await advance({ ordinals: new Set([9]) })).toEqual([message()]);
    expect((await world.node("b")).status).toBe("READY");
  });

  test("that another pass makes READY in between is sent by both", async () => {
    const { world, advance } = setup(itemOf(pendingWith()));
    world.table.strike("make_ready", () =>
      world.memory.write({
        op: "update",
        name: "x",
        key: { pk: "RUN#r", sk: "NODE#b" },
        set: { status: "READY", ready_at_ms: startMs, not_before_ms: 0 },
        conditions: [],
      }),
    );
    expect(await advance()).toEqual([message()]);
  });

  test("whose write's answers are lost is made READY once and sent", async () => {
    const { world, advance } = setup(itemOf(pendingWith()));
    world.table.strike("advance", "lost", "busy");
    world.table.strike("make_ready", "busy", "lost");
    expect(await advance()).toEqual([message()]);
    expect(await world.node("b")).toMatchObject({ status: "READY" });
  });

  test.each([
    ["has been taken since", nodeWith({ node_id: "b", status: "RUNNING", claim_id: "c" })],
    ["has been made READY again, by a retry", nodeWith({ node_id: "b", dispatch_id: "d-1" })],
    ["has ended", nodeWith({ node_id: "b", status: "SUCCEEDED" })],
    ["is READY in another generation of the run", nodeWith({ node_id: "b", generation: "old" })],
    ["is PENDING in another generation", pendingWith({ generation: "old" })],
  ])("and %s is left alone, and nothing is sent", async (_name, node) => {
    const { world, advance } = setup(itemOf(node));
    expect(await advance({ failed: true })).toEqual([]);
    expect(await world.memory.get({ pk: "RUN#r", sk: "NODE#b" })).toEqual(itemOf(node));
  });

  test("and is not there any more is let be", async () => {
    expect(await setup().advance()).toEqual([]);
  });
});

describe("a node that something failed for", () => {
  test("is SKIPPED when all that it waits for has ended, not before, with an entry for its own dependents (I1, I15)", async () => {
    const { world, advance } = setup(itemOf(pendingWith({ waiting_on: new Set([0, 3]), dependents: '[["c",0]]' })));
    expect(await advance({ failed: true })).toEqual([]);
    expect(await world.node("b")).toMatchObject({ status: "PENDING", dep_failed: true });
    expect(await advance({ ordinals: new Set([3]) })).toEqual([]);
    expect(await world.node("b")).toMatchObject({ status: "SKIPPED", effect: "none", ended_at_ms: startMs });
    expect(world.entries()).toMatchObject([{ ordinal: 1, failed: true, advances: '["c"]', advance_run: false }]);
    expect(world.table.sent.at(-1)).toBe("end_skipped+outbox");
  });

  test("and is skipped by another pass in between is skipped once", async () => {
    const { world, advance } = setup(itemOf(pendingWith()));
    world.table.strike("end_skipped", "lost");
    await advance({ failed: true });
    await advance({ failed: true });
    expect(world.entries()).toHaveLength(1);
  });

  test("what the write returned decides, never an earlier read: a failure marked in between skips", async () => {
    const { world, advance } = setup(itemOf(pendingWith({ waiting_on: new Set([0, 3]) })));
    world.table.strike("advance", () =>
      advanceNode({ ...world, table: world.memory }, ended({ ordinals: new Set([3]), failed: true }), "b"),
    );
    expect(await advance()).toEqual([]);
    expect((await world.node("b")).status).toBe("SKIPPED");
  });
});

describe("a run", () => {
  const advanceRun = (world: TestWorld, part: Partial<Ended> = {}) =>
    world.clock.during(advanceTheRun(world, ended(part)));

  test("ends when its last sink has, and not before", async () => {
    const world = testWorld(itemOf(runWith({ waiting_on: new Set([0, 1]) })));
    await advanceRun(world, { failed: true });
    expect(await world.run()).toMatchObject({ status: "RUNNING", waiting_on: new Set([1]), dep_failed: true });
    await advanceRun(world, { ordinals: new Set([1]) });
    expect(await world.run()).toMatchObject({ status: "FAILED", ended_at_ms: startMs });
  });

  test("cancelled between the last advance and its end is CANCELLED", async () => {
    const world = testWorld(itemOf(runWith()));
    world.table.strike("end_run", () =>
      world.memory.write({
        op: "update",
        name: "x",
        key: { pk: "RUN#r", sk: "RUN" },
        set: { status: "CANCELLING" },
        conditions: [],
      }),
    );
    await advanceRun(world);
    expect((await world.run()).status).toBe("CANCELLED");
  });

  test("whose end's answer was lost has ended once", async () => {
    const world = testWorld(itemOf(runWith()));
    world.table.strike("end_run", "lost");
    await advanceRun(world);
    expect((await world.run()).status).toBe("SUCCEEDED");
  });

  test.each([
    ["that has ended", runWith({ status: "CANCELLED", scan_shard: undefined, scan_at_ms: undefined })],
    ["of another generation", runWith({ generation: "old" })],
  ])("%s is left alone (I9)", async (_name, run) => {
    const world = testWorld(itemOf(run));
    await advanceRun(world, { failed: true });
    expect(await world.memory.get({ pk: "RUN#r", sk: "RUN" })).toEqual(itemOf(run));
  });

  test("that is not there is let be", async () => {
    await advanceRun(testWorld());
  });
});

describe("an outbox entry", () => {
  test("has its messages sent with what is left of their delay, again at each delivery", async () => {
    const world = testWorld();
    const entry = entryWith({
      messages: [
        { nodeId: "a", dispatchId: "d-1", notBeforeMs: startMs + 5_000 },
        { nodeId: "b", dispatchId: "d-0", notBeforeMs: 0 },
      ],
    });
    await world.clock.advance(2_000);
    await relayEntry(world, entry);
    const sent = [{ dispatch: { run_id: "r", node_id: "a", dispatch_id: "d-1" }, delayMs: 3_000 }, message()];
    expect(world.queue.sent).toEqual(sent);
    await relayEntry(world, entry);
    expect(world.queue.sent).toEqual([...sent, ...sent]);
    expect(world.counts.get("MessagesSent")).toBe(4);
  });

  test("advances whom the end sets free and sends their messages with its own", async () => {
    const world = testWorld(
      itemOf(pendingWith()),
      itemOf(pendingWith({ node_id: "c", ordinal: 2, waiting_on: new Set([0, 1]) })),
    );
    await relayEntry(world, endOf(["b", "c"]));
    expect(world.queue.sent).toEqual([message()]);
    expect(await world.node("c")).toMatchObject({ waiting_on: new Set([1]) });
  });

  test("of a failed end skips a whole chain, a step at a time, and fails the run at its end", async () => {
    const world = testWorld(
      itemOf(runWith({ waiting_on: new Set([3]) })),
      itemOf(pendingWith({ dependents: '[["c",1]]' })),
      itemOf(pendingWith({ node_id: "c", ordinal: 2, waiting_on: new Set([1]), dependents: '[["d",1]]' })),
      itemOf(pendingWith({ node_id: "d", ordinal: 3, waiting_on: new Set([2]) })),
    );
    await relayEntry(world, endOf(["b"], { failed: true }));
    expect((await world.node("b")).status).toBe("SKIPPED");
    expect((await world.node("c")).status).toBe("PENDING");
    await carryOutAll(world);
    expect([(await world.node("c")).status, (await world.node("d")).status, (await world.run()).status]).toEqual([
      "SKIPPED",
      "SKIPPED",
      "FAILED",
    ]);
    expect(world.queue.sent).toEqual([]);
  });

  test("advances the run only where it says so", async () => {
    const world = testWorld(itemOf(runWith()));
    await relayEntry(world, endOf([]));
    expect((await world.run()).status).toBe("RUNNING");
    await relayEntry(world, endOf([], { advanceRun: true }));
    expect((await world.run()).status).toBe("SUCCEEDED");
  });

  test("one of whose messages is not accepted comes again, and then everything is sent", async () => {
    const world = testWorld(itemOf(pendingWith()));
    world.queue.refuses = ({ dispatch }) => dispatch.node_id === "b";
    await expect(relayEntry(world, endOf(["b"]))).rejects.toThrow("1 of 1 messages were not accepted");
    world.queue.refuses = () => false;
    await relayEntry(world, endOf(["b"]));
    expect(world.queue.sent).toEqual([message()]);
  });

  test("of an old generation of the run touches nothing", async () => {
    const world = testWorld(itemOf(runWith()), itemOf(pendingWith()));
    const entry = { ...endOf(["b"], { advanceRun: true, failed: true }), generation: "old" };
    await relayEntry(world, entry);
    expect(await world.node("b")).toMatchObject({ status: "PENDING", waiting_on: new Set([0]) });
    expect(await world.run()).toMatchObject({ status: "RUNNING", waiting_on: new Set([0]) });
    expect(world.queue.sent).toEqual([]);
  });

  test.each<[string, Item]>([
    ["another version", { v: 2 }],
    ["messages that are no JSON", { messages: "[" }],
    ["messages of another shape", { messages: '[["a"]]' }],
    ["advances that are no ids", { advances: "[1]" }],
    ["no generation", { generation: 5 }],
  ])("with %s is not guessed at", (_name, part) => {
    expect(() => entryWith({ messages: [] }, part)).toThrow();
  });

  test("is the same item for the same cause, so that a repeated transaction makes no second one", () => {
    const intent = { messages: [] };
    expect(putOutbox("r", "g", "1/end/a", intent, startMs)).toEqual(putOutbox("r", "g", "1/end/a", intent, startMs));
    const { key, item } = putOutbox("r", "g", "1/end/a", intent, startMs);
    expect(readItem(outboxItemSchema, { ...key, ...item }).expires_at).toBe(startMs / 1_000 + 7 * 86_400);
  });
});
