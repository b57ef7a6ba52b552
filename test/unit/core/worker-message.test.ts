/** What becomes of a message before a tool is called. */
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { nodeKey, operationIdOf } from "../../../shared/keys.ts";
import type { NodeItem } from "../../../shared/model.ts";
import { itemOf, nodeWith, pendingWith, runningWith, startMs } from "../../support/world.ts";
import { setupWorker } from "./worker-parts.ts";

const asFound = (node: NodeItem) => setupWorker({ items: [itemOf(node)] });

describe("a body that is no dispatch message is kept with its reason and acknowledged (I13)", () => {
  test.each<[string, string, string]>([
    ["no JSON", "{", "body must be JSON"],
    ["null", "null", "body"],
    ["an extra field", '{"run_id":"r","node_id":"a","dispatch_id":"d-0","now":1}', "now"],
    ["a missing field", '{"run_id":"r","dispatch_id":"d-0"}', "node_id"],
    ["an empty id", '{"run_id":"","node_id":"a","dispatch_id":"d-0"}', "run_id: must not be empty"],
    [
      "a dispatch that is none",
      '{"run_id":"r","node_id":"a","dispatch_id":"d-01"}',
      "dispatch_id: must be d- and a number",
    ],
  ])("%s", async (_name, body, reason) => {
    const { world, deliver, calls } = setupWorker();
    expect(await deliver({ body })).toBe("acknowledge");
    expect(world.queue.rejected).toEqual([{ body, source: "dispatch", reason: expect.stringContaining(reason) }]);
    expect(world.counts.get("MessageRejected")).toBe(1);
    expect([calls.length, world.table.sent.length]).toEqual([0, 0]);
  });

  test("and comes again when it cannot be kept now", async () => {
    const { world, deliver } = setupWorker();
    world.queue.isDown = true;
    await expect(deliver({ body: "{" })).rejects.toThrow("queue is down");
  });

  test("a node that is not there is kept too, and makes no item", async () => {
    const { world, deliver } = setupWorker({ items: [] });
    expect(await deliver()).toBe("acknowledge");
    expect(world.queue.rejected).toMatchObject([
      { source: "dispatch", reason: 'no node "a" in run "r", or the run has expired' },
    ]);
    expect(await world.memory.get(nodeKey("r", "a"))).toBeUndefined();
  });
});

describe("a message that nothing waits for is acknowledged, runs nothing and changes nothing (I4, I9)", () => {
  test.each<[string, NodeItem]>([
    ["a node that has ended", nodeWith({ status: "SUCCEEDED", output: "1" })],
    ["a node that has failed", nodeWith({ status: "FAILED" })],
    ["a stale dispatch", nodeWith({ dispatch_id: "d-1", epoch: 1 })],
    ["a lease of another message", runningWith({ message_id: "m-other" })],
    ["a PENDING node", pendingWith({ node_id: "a" })],
    ["a node in doubt", nodeWith({ status: "IN_DOUBT" })],
    ["a tool that is not deployed", nodeWith({ tool: "gone" })],
  ])("%s", async (_name, node) => {
    const { world, deliver, calls } = asFound(node);
    expect(await deliver()).toBe("acknowledge");
    expect(calls).toEqual([]);
    expect(await world.memory.get(nodeKey("r", "a"))).toEqual(itemOf(node));
    expect([world.queue.rejected, world.queue.sent]).toEqual([[], []]);
  });

  test("a copy is counted as superfluous, and a tool that is not deployed by a name of its own", async () => {
    const copy = asFound(nodeWith({ status: "SUCCEEDED" }));
    await copy.deliver();
    expect([...copy.world.counts]).toEqual([["MessageSuperfluous", 1]]);
    const gone = asFound(nodeWith({ tool: "gone" }));
    await gone.deliver();
    expect([...gone.world.counts]).toEqual([["UnknownTool", 1]]);
  });
});

describe("a message that is too early is left, to come back in time", () => {
  test.each<[string, NodeItem, number]>([
    ["a live lease of its own, until it has surely ended", runningWith({ message_id: "m-1" }), 32_001],
    ["a node that is not due", nodeWith({ not_before_ms: startMs + 5_000 }), 5_000],
    ["a node due in less than a second, which SQS cannot hide for", nodeWith({ not_before_ms: startMs + 1 }), 1_000],
  ])("%s", async (_name, node, forMs) => {
    const { world, deliver, calls } = asFound(node);
    expect(await deliver()).toBe("redeliver");
    expect(world.queue.hidden).toEqual([{ receiptHandle: "receipt-m-1", forMs }]);
    expect(calls).toEqual([]);
    expect(await world.memory.get(nodeKey("r", "a"))).toEqual(itemOf(node));
  });

  test("though its visibility cannot be changed", async () => {
    const { world, deliver } = asFound(nodeWith({ not_before_ms: startMs + 5_000 }));
    world.queue.isDown = true;
    expect(await deliver()).toBe("redeliver");
  });

  test("an invocation that could not hold its commit claims nothing (I6)", async () => {
    const { world, deliver } = setupWorker();
    expect(await deliver({ remainingMs: 6_999 })).toBe("redeliver");
    expect(world.table.sent).toEqual([]);
    expect(world.queue.hidden).toEqual([{ receiptHandle: "receipt-m-1", forMs: 1_000 }]);
  });
});

describe("a node that nobody may run any more is ended without a tool", () => {
  test.each<[string, Partial<NodeItem>, string, string]>([
    ["READY past its deadline", { deadline_at_ms: startMs }, "EXPIRED", "none"],
    ["READY past its deadline, with an open attempt", { deadline_at_ms: startMs, epoch: 1 }, "EXPIRED", "unknown"],
    ["READY with its attempts used up", { attempts_used: 5, epoch: 5, certain_through_epoch: 5 }, "FAILED", "none"],
    [
      "READY with its attempts used up and the last one open",
      { attempts_used: 5, epoch: 5, certain_through_epoch: 4 },
      "FAILED",
      "unknown",
    ],
  ])("%s", async (_name, part, status, effect) => {
    const { world, deliver, calls } = asFound(nodeWith({ ...part, dependents: '[["b",1]]' }));
    expect(await deliver()).toBe("acknowledge");
    expect(calls).toEqual([]);
    expect(await world.node("a")).toMatchObject({ status, effect, error: expect.stringContaining("NotRun") });
    expect(world.entries()).toMatchObject([{ failed: true, advances: '["b"]' }]);
  });

  test("RUNNING with its lease ended and its attempts used up is FAILED with effect unknown (I14)", async () => {
    const { world, deliver } = asFound(
      runningWith({ attempts_used: 5, epoch: 5, certain_through_epoch: 4, lease_expires_at_ms: startMs - 2_001 }),
    );
    expect(await deliver({ messageId: "m-other" })).toBe("acknowledge");
    expect(await world.node("a")).toMatchObject({ status: "FAILED", effect: "unknown", certain_through_epoch: 4 });
  });

  test("but a heartbeat in between refuses it, and the message is left", async () => {
    const node = runningWith({ attempts_used: 5, lease_expires_at_ms: startMs - 2_001 });
    const { world, deliver } = asFound(node);
    world.table.strike("end_failed", () =>
      world.memory.write({
        op: "update",
        name: "beat",
        key: nodeKey("r", "a"),
        set: { lease_expires_at_ms: startMs + 30_000 },
        conditions: [],
      }),
    );
    expect(await deliver()).toBe("redeliver");
    expect((await world.node("a")).status).toBe("RUNNING");
  });
});

describe("a claim", () => {
  test("hands the tool its identity: one operation id for all attempts, a fencing token that rises (I5)", async () => {
    const { deliver, calls } = asFound(
      runningWith({ epoch: 3, attempts_used: 2, lease_expires_at_ms: startMs - 2_001, input: '{"x":1}' }),
    );
    expect(await deliver()).toBe("acknowledge");
    expect(calls).toMatchObject([
      {
        input: { x: 1 },
        context: {
          operationId: operationIdOf("test", "r", "g", "a"),
          fencingToken: 4,
          attempt: 3,
          runId: "r",
          nodeId: "a",
          deadlineAtMs: startMs + 3_600_000,
        },
      },
    ]);
  });

  test.each([1, 2])(
    "whose answer was lost %i times is gone on with as owner, and the tool runs once (I10)",
    async (times) => {
      const { world, deliver, calls } = setupWorker();
      world.table.strike("claim", ...Array.from({ length: times }, () => "lost" as const));
      expect(await deliver()).toBe("acknowledge");
      expect(calls).toHaveLength(1);
      expect(await world.node("a")).toMatchObject({ status: "SUCCEEDED", epoch: 1, attempts_used: 1 });
    },
  );

  test("hides its message for the lease and the skew bound at once", async () => {
    const { world, deliver } = setupWorker();
    await deliver();
    expect(world.pulse.queue.hidden).toEqual([{ receiptHandle: "receipt-m-1", forMs: 32_000 }]);
  });

  test("that cannot hide its message runs all the same", async () => {
    const { world, deliver, calls } = setupWorker();
    world.pulse.queue.isDown = true;
    expect(await deliver()).toBe("acknowledge");
    expect(calls).toHaveLength(1);
  });

  test("that the table does not answer in time leaves the message", async () => {
    const { world, deliver } = setupWorker();
    world.table.strike("claim", ...Array.from({ length: 100 }, () => "busy" as const));
    await expect(deliver()).rejects.toThrow("no answer within");
  });
});

describe("a run that has changed calls no tool", () => {
  test.each([
    ["cancelled", { status: "CANCELLING", cancel_reason: "enough" } as const, "CANCELLED", "enough"],
    ["of another generation", { generation: "new" } as const, "EXPIRED", "run_expired"],
  ])("%s", async (_name, run, status, says) => {
    const { world, deliver, calls } = setupWorker({ run });
    expect(await deliver()).toBe("acknowledge");
    expect(calls).toEqual([]);
    expect(await world.node("a")).toMatchObject({ status, effect: "none", error: expect.stringContaining(says) });
  });

  test("cancelled, with an earlier attempt open: the effect is unknown (I14)", async () => {
    const { world, deliver } = setupWorker({
      run: { status: "CANCELLING" },
      items: [itemOf(nodeWith({ epoch: 1, attempts_used: 1, dispatch_id: "d-1" }))],
    });
    expect(await deliver({ dispatchId: "d-1" })).toBe("acknowledge");
    expect(await world.node("a")).toMatchObject({ status: "CANCELLED", effect: "unknown", certain_through_epoch: 0 });
  });
});

describe("an attempt whose tool was not called is given back (I6)", () => {
  test.each(["RUN", "INPUT#a"])("where %s cannot be read now", async (sk) => {
    const { world, deliver, calls } = setupWorker({
      items: [itemOf(nodeWith({ input: undefined, input_beside: true }))],
    });
    world.table.strike(sk, "throws");
    expect(await deliver()).toBe("acknowledge");
    expect(calls).toEqual([]);
    expect(await world.node("a")).toMatchObject({
      status: "READY",
      attempts_used: 0,
      epoch: 1,
      dispatch_id: "d-1",
      certain_through_epoch: 1,
      not_before_ms: startMs + 1_000,
    });
    expect(world.entries()).toMatchObject([{ messages: `[["a","d-1",${startMs + 1_000}]]` }]);
  });

  test("where too little of the lease is left by the monotonic clock", async () => {
    const { world, deliver, calls } = setupWorker();
    world.table.strike("RUN", () => world.clock.stall(28_000));
    expect(await deliver()).toBe("acknowledge");
    expect(calls).toEqual([]);
    expect(await world.node("a")).toMatchObject({ status: "READY", attempts_used: 0, certain_through_epoch: 1 });
  });

  test("and not where a millisecond more is left", async () => {
    const { world, deliver, calls } = setupWorker();
    world.table.strike("RUN", () => world.clock.stall(27_999));
    await deliver();
    expect(calls).toHaveLength(1);
  });

  test("where too little of the invocation is left", async () => {
    const { world, deliver, calls } = setupWorker();
    world.table.strike("RUN", () => world.clock.stall(3_000));
    expect(await deliver({ remainingMs: 10_000 })).toBe("acknowledge");
    expect(calls).toEqual([]);
    expect(await world.node("a")).toMatchObject({ status: "READY", attempts_used: 0 });
  });

  test("and an earlier open attempt stays open", async () => {
    const { world, deliver } = setupWorker({
      items: [itemOf(nodeWith({ epoch: 1, attempts_used: 1, open_since_ms: startMs - 5 }))],
    });
    world.table.strike("RUN", "throws");
    await deliver();
    expect(await world.node("a")).toMatchObject({
      attempts_used: 1,
      certain_through_epoch: 0,
      open_since_ms: startMs - 5,
    });
  });
});

describe("an input", () => {
  const refers = (upstream: Partial<NodeItem>) =>
    setupWorker({
      items: [
        itemOf(nodeWith({ input: '{"x":{"$output":"up","pointer":"/n"}}' })),
        itemOf(nodeWith({ node_id: "up", ordinal: 1, ...upstream })),
      ],
      tool: { input: z.object({ x: z.number() }) },
    });

  test("has its references replaced by what its upstream gave", async () => {
    const { deliver, calls } = refers({ status: "SUCCEEDED", output: '{"n":7}' });
    await deliver();
    expect(calls).toMatchObject([{ input: { x: 7 } }]);
  });

  test.each([
    ["that leads to nothing", '{"m":7}', "has nothing at pointer"],
    ["that does not fit the tool's schema", '{"n":"seven"}', "input.x"],
  ])("%s ends the node FAILED with no effect, and calls nothing", async (_name, output, says) => {
    const { world, deliver, calls } = refers({ status: "SUCCEEDED", output });
    expect(await deliver()).toBe("acknowledge");
    expect(calls).toEqual([]);
    expect(await world.node("a")).toMatchObject({
      status: "FAILED",
      effect: "none",
      error: expect.stringContaining(says),
      attempts_used: 1,
    });
    expect((await world.node("a")).error).toContain("bad_input");
  });

  test.each<[string, Partial<NodeItem>]>([
    ["has not ended", { status: "RUNNING" }],
    ["is of another generation", { status: "SUCCEEDED", output: '{"n":7}', generation: "old" }],
  ])("whose upstream %s is not guessed at: the attempt is given back", async (_name, part) => {
    const { world, deliver, calls } = refers(part);
    await deliver();
    expect(calls).toEqual([]);
    expect(await world.node("a")).toMatchObject({ status: "READY", attempts_used: 0 });
  });

  test("whose schema throws ends the node", async () => {
    const input = z.unknown().refine(() => {
      throw new Error("schema is broken");
    });
    const { world, deliver } = setupWorker({ tool: { input } });
    await deliver();
    expect(await world.node("a")).toMatchObject({
      status: "FAILED",
      effect: "none",
      error: expect.stringContaining("schema is broken"),
    });
  });
});
