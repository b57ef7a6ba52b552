/** Public reports of faults (docs/scenarios.md) tried on one message, one entry or one command. */
import { describe, expect, test } from "vitest";
import { asciiJson } from "../../../shared/adapters/ascii-json.ts";
import { advanceNode } from "../../../shared/advance.ts";
import { handleCommand } from "../../../shared/command.ts";
import { NonRetryableError, RetryableError } from "../../../shared/errors.ts";
import { commandKey } from "../../../shared/keys.ts";
import { fixed } from "../../../shared/limits.ts";
import { putOutbox } from "../../../shared/outbox.ts";
import { readEntry, relayEntry } from "../../../shared/relay.ts";
import { itemBytes } from "../../../shared/size.ts";
import {
  itemOf,
  nodeWith,
  pendingWith,
  runningWith,
  startMs,
  type TestWorld,
  testLimits,
  testWorld,
  toolsOf,
  toolWith,
} from "../../support/world.ts";
import { setupWorker } from "../core/worker-parts.ts";

const throwing = (error: unknown) => () => {
  throw error;
};
const relayAll = async (world: TestWorld): Promise<void> => {
  for (const entry of world.entries()) await relayEntry(world, readEntry(entry));
};
const copies = async (deliver: (part: { messageId: string }) => Promise<string>, count: number) => {
  const verdicts: string[] = [];
  for (let copy = 0; copy < count; copy++) verdicts.push(await deliver({ messageId: `copy-${copy}` }));
  return new Set(verdicts);
};

describe("a retry", () => {
  test("later than a queue can delay waits in the table, with one message that comes back until it is due (BUG-009)", async () => {
    const { world, deliver, calls } = setupWorker({
      execute: () => {
        if (calls.length === 1) throw new RetryableError("not for 20 minutes", { retryAfterMs: 1_200_000 });
        return {};
      },
    });
    expect(await deliver()).toBe("acknowledge");
    expect(await world.node("a")).toMatchObject({ status: "READY", not_before_ms: startMs + 1_200_000 });
    await relayAll(world);
    expect(world.queue.sent).toMatchObject([{ dispatch: { dispatch_id: "d-1" }, delayMs: 1_200_000 }]);

    world.clock.stall(fixed.messageDelayMs);
    expect(await deliver({ dispatchId: "d-1" })).toBe("redeliver");
    expect(world.queue.hidden.at(-1)?.forMs).toBe(300_000);
    world.clock.stall(300_000);
    expect(await deliver({ dispatchId: "d-1" })).toBe("acknowledge");
    expect(await world.node("a")).toMatchObject({ status: "SUCCEEDED", attempts_used: 2 });
    expect(calls).toHaveLength(2);
  });
});

describe("a copy of a finished parent's message", () => {
  test("sends nothing and writes nothing, five times over, while its children run (BUG-027, BUG-058)", async () => {
    const { world, deliver, calls } = setupWorker({
      items: [itemOf(nodeWith({ dependents: '[["b",1]]' })), itemOf(pendingWith())],
    });
    await deliver();
    await relayAll(world);
    const before = [...world.memory.items()];
    const sent = world.queue.sent.length;
    expect(await copies(deliver, 5)).toEqual(new Set(["acknowledge"]));
    expect([...world.memory.items()]).toEqual(before);
    expect([world.queue.sent.length, calls.length]).toEqual([sent, 1]);
  });
});

describe("a redrive of dead messages (BUG-217)", () => {
  test("of a node that has ended runs nothing", async () => {
    const { deliver, calls } = setupWorker({ items: [itemOf(nodeWith({ status: "SUCCEEDED" }))] });
    expect(await copies(deliver, 8)).toEqual(new Set(["acknowledge"]));
    expect(calls).toEqual([]);
  });

  test("of a cancelled run ends its node and runs nothing", async () => {
    const { world, deliver, calls } = setupWorker({ run: { status: "CANCELLING" } });
    expect(await copies(deliver, 8)).toEqual(new Set(["acknowledge"]));
    expect(await world.node("a")).toMatchObject({ status: "CANCELLED", effect: "none" });
    expect(calls).toEqual([]);
  });

  test("of a READY node runs it once", async () => {
    const { world, deliver, calls } = setupWorker();
    expect(await copies(deliver, 8)).toEqual(new Set(["acknowledge"]));
    expect((await world.node("a")).status).toBe("SUCCEEDED");
    expect(calls).toHaveLength(1);
  });
});

describe("the relay", () => {
  test("whose child shard is read before its parent sends a message that is stale, and nothing runs again (BUG-046)", async () => {
    const { world, deliver, calls } = setupWorker({ run: { waiting_on: new Set([9]) } });
    const start = putOutbox(
      "r",
      "g",
      "start",
      { messages: [{ nodeId: "a", dispatchId: "d-0", notBeforeMs: 0 }] },
      startMs,
    );
    await deliver();
    await relayAll(world);
    await relayEntry(world, readEntry({ ...start.key, ...start.item }));
    expect(world.queue.sent).toMatchObject([{ dispatch: { node_id: "a", dispatch_id: "d-0" } }]);
    expect(await deliver({ messageId: "late" })).toBe("acknowledge");
    expect(calls).toHaveLength(1);
  });

  test("counts as sent what the queue has accepted, and no more (BUG-052)", async () => {
    const world = testWorld();
    const ids = ["a", "b", "c", "d"];
    const messages = ids.map((nodeId) => ({ nodeId, dispatchId: "d-0", notBeforeMs: 0 }));
    const { key, item } = putOutbox("r", "g", "start", { messages }, startMs);
    world.queue.refuses = ({ dispatch }) => dispatch.node_id === "c";
    await expect(relayEntry(world, readEntry({ ...key, ...item }))).rejects.toThrow("1 of 4 messages");
    expect(world.counts.get("MessagesSent")).toBe(3);
  });

  test("can never fill a batch beyond its bytes: ten of the longest messages take a small part of it (BUG-055, BUG-056)", () => {
    const longest = (character: string): number => {
      const id = character.repeat(Math.floor(fixed.idBytes / Buffer.byteLength(character)));
      return asciiJson({ run_id: id, node_id: id, dispatch_id: `d-${Number.MAX_SAFE_INTEGER}` }).length;
    };
    for (const character of ["x", '"', "é", "名", "😀"])
      expect(fixed.sendBatch * longest(character)).toBeLessThan(fixed.messageBytes / 10);
  });
});

describe("a join of five", () => {
  test("counts each parent once, however often its end is processed (BUG-210)", async () => {
    const world = testWorld(itemOf(pendingWith({ waiting_on: new Set([0, 2, 3, 4, 5]) })));
    const end = (ordinal: number) =>
      advanceNode(world, { runId: "r", generation: "g", ordinals: new Set([ordinal]), failed: false }, "b");
    for (const ordinal of [0, 0, 0, 2, 3, 2, 4, 0]) expect(await end(ordinal)).toEqual([]);
    expect((await world.node("b")).status).toBe("PENDING");
    expect(await end(5)).toHaveLength(1);
    expect((await world.node("b")).status).toBe("READY");
  });
});

describe("an owner", () => {
  test("that stood still beyond its lease still commits, as long as nobody has claimed since: the epoch decides (BUG-098)", async () => {
    const worker = setupWorker({
      execute: () => {
        worker.world.clock.stall(60_000);
        return { late: true };
      },
    });
    expect(await worker.deliver()).toBe("acknowledge");
    expect(await worker.world.node("a")).toMatchObject({ status: "SUCCEEDED", epoch: 1, output: '{"late":true}' });
  });

  test("whose node fails after the cancel leaves the run its reason (BUG-206)", async () => {
    const { world, deliver } = setupWorker({
      execute: async () => {
        await world.memory.write({
          op: "update",
          name: "cancel",
          key: { pk: "RUN#r", sk: "RUN" },
          set: { status: "CANCELLING", cancel_reason: "no longer wanted" },
          conditions: [],
        });
        return throwing(new NonRetryableError("too late"))();
      },
    });
    expect(await deliver()).toBe("acknowledge");
    await relayAll(world);
    expect(await world.run()).toMatchObject({ status: "CANCELLED", cancel_reason: "no longer wanted" });
    expect((await world.node("a")).error).toContain("too late");
  });
});

describe("a node that fails a hundred times over (BUG-112)", () => {
  test("grows no larger by its history, and its last outcome can be written", async () => {
    const { world, deliver, calls } = setupWorker({
      items: [itemOf(nodeWith({ max_attempts: 100 }))],
      execute: () => {
        throw new RetryableError(`attempt ${calls.length} failed: ${"x".repeat(100_000)}`, { retryAfterMs: 0 });
      },
    });
    const bytes = new Set<number>();
    for (let attempt = 0; attempt < 100; attempt++) {
      expect(await deliver({ dispatchId: `d-${attempt}` })).toBe("acknowledge");
      bytes.add(itemBytes(itemOf(await world.node("a"))));
    }
    expect(await world.node("a")).toMatchObject({ status: "FAILED", attempts_used: 100 });
    expect(Math.max(...bytes)).toBeLessThanOrEqual(fixed.writeUnitBytes);
  });
});

describe("a container without credentials (BUG-179)", () => {
  test("uses up no attempt, however many messages it gets, and another one runs the node", async () => {
    const { world, deliver, calls } = setupWorker();
    world.table.strike("claim", ...Array.from({ length: 20 }, () => "throws" as const));
    for (let copy = 0; copy < 20; copy++) await expect(deliver()).rejects.toThrow("cannot do claim");
    expect(await world.node("a")).toMatchObject({ status: "READY", attempts_used: 0 });
    expect(await deliver()).toBe("acknowledge");
    expect(await world.node("a")).toMatchObject({ status: "SUCCEEDED", attempts_used: 1 });
    expect(calls).toHaveLength(1);
  });
});

describe("a tool that returns no object", () => {
  test.each([[null], [[]], [""], [0], [false]])(
    "but %j ends its node and its run all the same (BUG-130)",
    async (value) => {
      const { world, deliver } = setupWorker({ execute: () => value });
      expect(await deliver()).toBe("acknowledge");
      expect(await world.node("a")).toMatchObject({ status: "SUCCEEDED", output: JSON.stringify(value) });
      expect((await world.run()).status).toBe("SUCCEEDED");
    },
  );

  test("what it returned and what the next one reads are the same value, with large and small numbers (BUG-127, BUG-156)", async () => {
    const output = { n: [1e-130, 1.5, Number.MAX_SAFE_INTEGER, "9007199254740993"], none: null };
    const first = setupWorker({ execute: () => output });
    await first.deliver();
    const kept = await first.world.node("a");
    const next = setupWorker({
      items: [itemOf(kept), itemOf(nodeWith({ node_id: "b", ordinal: 1, input: '{"from":{"$output":"a"}}' }))],
    });
    await next.deliver({ body: '{"run_id":"r","node_id":"b","dispatch_id":"d-0"}' });
    expect(next.calls[0]?.input).toEqual({ from: output });
  });
});

describe("the same start", () => {
  test("after the run has ended is the same run: what was written since left the hash alone (BUG-108)", async () => {
    const world = testWorld();
    const tools = toolsOf(toolWith());
    const send = (commandId: string) =>
      handleCommand(
        { ...world, limits: testLimits(), tools },
        {
          messageId: commandId,
          body: `{"type":"start_run","command_id":"${commandId}","run_id":"r","nodes":[{"node_id":"a","tool":"work"}]}`,
        },
      );
    await send("one");
    const worker = setupWorker({
      items: [...world.memory.items()].map((item) => ({ ...item, pk: String(item.pk), sk: String(item.sk) })),
    });
    // The worker's own run item would stand in the way of the one that was started.
    for (const item of world.memory.items())
      if (item.kind === "run")
        await worker.world.memory.write({
          op: "put",
          name: "as_started",
          key: { pk: String(item.pk), sk: String(item.sk) },
          item: Object.fromEntries(Object.entries(item).filter(([name]) => name !== "pk" && name !== "sk")),
          conditions: [],
        });
    await worker.deliver();
    expect((await worker.world.run()).status).toBe("SUCCEEDED");
    await handleCommand(
      { ...worker.world, limits: testLimits(), tools },
      {
        messageId: "two",
        body: '{"nodes":[{"tool":"work","node_id":"a"}],"run_id":"r","command_id":"two","type":"start_run"}',
      },
    );
    expect(await worker.world.memory.get(commandKey("two"))).toMatchObject({
      outcome: "accepted",
      run_status: "SUCCEEDED",
      changed: false,
    });
  });
});

test("a lease that ended before anyone watched it is taken over by the first who comes (BUG-085)", async () => {
  const { world, deliver } = setupWorker({ items: [itemOf(runningWith({ lease_expires_at_ms: startMs - 2_001 }))] });
  expect(await deliver({ messageId: "never-seen-before" })).toBe("acknowledge");
  expect(await world.node("a")).toMatchObject({ status: "SUCCEEDED", epoch: 2 });
});

test("a run whose items are gone gets no half-made node from a late message (BUG-153)", async () => {
  const { world, deliver } = setupWorker({ items: [] });
  world.memory.remove({ pk: "RUN#r", sk: "RUN" });
  expect(await deliver()).toBe("acknowledge");
  expect([...world.memory.items()]).toEqual([]);
  expect(await advanceNode(world, { runId: "r", generation: "g", ordinals: new Set([0]), failed: false }, "a")).toEqual(
    [],
  );
  expect([...world.memory.items()]).toEqual([]);
});
