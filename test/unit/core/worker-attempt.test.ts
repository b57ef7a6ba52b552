/** What becomes of a node when its tool was called. */
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { NonRetryableError, RetryableError } from "../../../shared/errors.ts";
import { nodeKey, runKey } from "../../../shared/keys.ts";
import { fixed } from "../../../shared/limits.ts";
import type { Item } from "../../../shared/write.ts";
import { itemOf, nodeWith, pendingWith, runningWith, startMs } from "../../support/world.ts";
import { processEnded, setupWorker, type WorkerSetup } from "./worker-parts.ts";

const throwing = (thrown: unknown) => () => {
  throw thrown;
};
const never = () => new Promise<never>(() => {});
const put = (world: WorkerSetup["world"], nodeId: string, set: Item, remove: readonly string[] = []) =>
  world.memory.write({ op: "update", name: "put", key: nodeKey("r", nodeId), set, remove, conditions: [] });
/** Another worker takes the node over. */
const takeOver = (world: WorkerSetup["world"]) =>
  put(world, "a", {
    epoch: 2,
    claim_id: "c-other",
    message_id: "m-other",
    attempts_used: 2,
    lease_expires_at_ms: startMs + 90_000,
  });
/** A tool that works for so long on the world's clock, and ends early when told to. */
const works =
  (world: () => WorkerSetup["world"], ms: number) =>
  async (_input: unknown, context: { readonly signal: AbortSignal }) => {
    await world().clock.sleep(ms, context.signal);
    if (context.signal.aborted) throw new Error(`stopped: ${String(context.signal.reason)}`);
    return { ok: true };
  };
function setupWorking(ms: number, options: Parameters<typeof setupWorker>[0] = {}): WorkerSetup {
  const worker: WorkerSetup = setupWorker({ execute: works(() => worker.world, ms), ...options });
  return worker;
}

describe("a tool that returns", () => {
  test("has its output recorded, then its message is acknowledged, and the run ends with its last node (I4)", async () => {
    const { world, deliver } = setupWorker();
    expect(await deliver()).toBe("acknowledge");
    expect(await world.node("a")).toMatchObject({
      status: "SUCCEEDED",
      effect: "done",
      output: '{"ok":true}',
      certain_through_epoch: 1,
    });
    expect((await world.run()).status).toBe("SUCCEEDED");
    expect(world.table.sent).toEqual(["claim", "end_succeeded+end_run"]);
    expect(world.counts.get("NodeEnded")).toBe(1);
  });

  test("has a large output written beside its node before the commit that points to it", async () => {
    const { world, deliver } = setupWorker({ execute: () => "x".repeat(5_000) });
    await deliver();
    expect(world.table.sent).toEqual(["claim", "output_beside", "end_succeeded+end_run"]);
    expect(await world.node("a")).toMatchObject({ status: "SUCCEEDED", output_epoch: 1 });
  });

  test("makes READY who waits for it alone, and the entry carries the message", async () => {
    const { world, deliver } = setupWorker({
      items: [itemOf(nodeWith({ dependents: '[["b",1]]' })), itemOf(pendingWith())],
    });
    await deliver();
    expect(await world.node("b")).toMatchObject({ status: "READY" });
    expect(world.entries()).toMatchObject([{ messages: '[["b","d-0",0]]', advances: "[]" }]);
  });

  test.each<[string, unknown, unknown, string, string | undefined]>([
    ["nothing", undefined, z.object({}), "output", undefined],
    ["what breaks its schema", { n: "x" }, z.object({ n: z.number() }), "output.n", '{"n":"x"}'],
    ["what JSON cannot hold", { at: new Date(0) }, z.unknown(), "output/at: Date", undefined],
    ["what its schema makes no JSON of", "x", z.unknown().transform(() => 1n), "bigint", '"x"'],
    ["more than can be kept", "x".repeat(fixed.outputBytes), z.unknown(), "at most", undefined],
    [
      "what its schema throws at",
      1,
      z.unknown().refine(throwing(new Error("schema is broken"))),
      "schema is broken",
      undefined,
    ],
    [
      "an object that cannot be read",
      Object.defineProperty({}, "x", { enumerable: true, get: throwing(undefined) }),
      z.unknown(),
      "output/x: getter",
      undefined,
    ],
  ])(
    "%s is FAILED with its effect done, the raw value kept, and never tried again",
    async (_name, value, output, says, raw) => {
      const { world, deliver } = setupWorker({ execute: () => value, tool: { output: output as z.ZodType } });
      expect(await deliver()).toBe("acknowledge");
      const node = await world.node("a");
      expect(node).toMatchObject({
        status: "FAILED",
        effect: "done",
        certain_through_epoch: 1,
        error: expect.stringContaining(says),
      });
      expect(node.error).toContain("bad_output");
      expect(node.output).toBe(raw);
      expect((await world.run()).status).toBe("FAILED");
    },
  );

  test("and changes its result afterwards is recorded with what it returned", async () => {
    const result = { n: 1 };
    const { world, deliver } = setupWorker({ execute: () => result });
    world.table.strike("end_succeeded", () => {
      result.n = 2;
    });
    await deliver();
    expect((await world.node("a")).output).toBe('{"n":1}');
  });
});

describe("a tool that throws", () => {
  test.each<[string, unknown, string]>([
    ["undefined", undefined, '"message":"undefined"'],
    ["null", null, '"message":"null"'],
    ["a text", "oh", '"message":"oh"'],
    ["an error", new TypeError("oh"), '"name":"TypeError"'],
    ["an object whose fields throw", Object.defineProperty({}, "code", { get: throwing("no") }), "cannot be described"],
    ["an object without prototype", Object.create(null), '"name":"Error"'],
    ["a revoked proxy", revokedProxy(), "cannot be described"],
  ])("%s is tried again as a new dispatch, its effect open (I14)", async (_name, thrown, says) => {
    const { world, deliver } = setupWorker({ execute: throwing(thrown) });
    expect(await deliver()).toBe("acknowledge");
    expect(await world.node("a")).toMatchObject({
      status: "READY",
      dispatch_id: "d-1",
      attempts_used: 1,
      certain_through_epoch: 0,
      open_since_ms: startMs,
      not_before_ms: startMs + 500,
      error: expect.stringContaining(says),
    });
    expect(world.entries()).toMatchObject([{ messages: `[["a","d-1",${startMs + 500}]]` }]);
    expect(world.counts.get("NodeAgain")).toBe(1);
  });

  test("RetryableError is tried again after its own delay, and is certain", async () => {
    const { world, deliver } = setupWorker({ execute: throwing(new RetryableError("busy", { retryAfterMs: 9_000 })) });
    await deliver();
    expect(await world.node("a")).toMatchObject({
      status: "READY",
      certain_through_epoch: 1,
      not_before_ms: startMs + 9_000,
    });
    expect(await world.node("a")).not.toHaveProperty("open_since_ms");
  });

  test("RetryableError with a delay beyond all time is recorded all the same", async () => {
    const { world, deliver } = setupWorker({ execute: throwing(new RetryableError("busy", { retryAfterMs: 1e300 })) });
    expect(await deliver()).toBe("acknowledge");
    expect((await world.node("a")).status).toBe("READY");
  });

  test("NonRetryableError ends the node with no effect, and what waits for it is the entry's", async () => {
    const { world, deliver } = setupWorker({
      execute: throwing(new NonRetryableError("no")),
      items: [itemOf(nodeWith({ dependents: '[["b",1]]' })), itemOf(pendingWith())],
    });
    await deliver();
    expect(await world.node("a")).toMatchObject({ status: "FAILED", effect: "none" });
    expect((await world.node("b")).status).toBe("PENDING");
    expect(world.entries()).toMatchObject([{ failed: true, advances: '["b"]', messages: "[]" }]);
  });

  test("NonRetryableError after an open attempt leaves the effect unknown", async () => {
    const { world, deliver } = setupWorker({
      execute: throwing(new NonRetryableError("no")),
      items: [itemOf(nodeWith({ epoch: 1, attempts_used: 1 }))],
    });
    await deliver();
    expect(await world.node("a")).toMatchObject({ status: "FAILED", effect: "unknown", certain_through_epoch: 0 });
  });

  test("anything on its last attempt is FAILED with effect unknown", async () => {
    const { world, deliver } = setupWorker({
      execute: throwing(new Error("x")),
      items: [itemOf(nodeWith({ attempts_used: 4, epoch: 4, certain_through_epoch: 4 }))],
    });
    await deliver();
    expect(await world.node("a")).toMatchObject({
      status: "FAILED",
      effect: "unknown",
      attempts_used: 5,
      certain_through_epoch: 4,
    });
  });
});

describe("a commit", () => {
  test.each([1, 2])("whose answer was lost %i times is acknowledged and counted once (I10)", async (times) => {
    const { world, deliver, calls } = setupWorker();
    world.table.strike("end_succeeded", ...Array.from({ length: times }, () => "lost" as const));
    expect(await deliver()).toBe("acknowledge");
    expect([calls.length, world.counts.get("NodeEnded"), world.counts.get("CommitRefused")]).toEqual([1, 1, undefined]);
  });

  test("of a retry whose answer was lost is acknowledged too", async () => {
    const { world, deliver } = setupWorker({ execute: throwing(new Error("x")) });
    world.table.strike("retry", "lost");
    expect(await deliver()).toBe("acknowledge");
    expect(world.entries()).toHaveLength(1);
  });

  test("refused because of a dependent is sent again without it, and that one is the entry's", async () => {
    const items = [
      itemOf(nodeWith({ dependents: '[["b",1],["c",1]]' })),
      itemOf(pendingWith({ status: "SKIPPED" })),
      itemOf(pendingWith({ node_id: "c", ordinal: 2 })),
    ];
    const { world, deliver } = setupWorker({ items });
    expect(await deliver()).toBe("acknowledge");
    expect(world.table.sent.slice(1)).toEqual([
      "end_succeeded+ready_alone+ready_alone+outbox",
      "end_succeeded+ready_alone+outbox",
    ]);
    expect((await world.node("c")).status).toBe("READY");
    expect(world.entries()).toMatchObject([{ advances: '["b"]', messages: '[["c","d-0",0]]' }]);
  });

  test("refused because the run was cancelled since is sent again, and the node's outcome is kept as fact", async () => {
    const { world, deliver } = setupWorker();
    world.table.strike("end_succeeded", () =>
      world.memory.write({ op: "update", name: "x", key: runKey("r"), set: { status: "CANCELLING" }, conditions: [] }),
    );
    expect(await deliver()).toBe("acknowledge");
    expect((await world.node("a")).status).toBe("SUCCEEDED");
    expect((await world.run()).status).toBe("CANCELLING");
    expect(world.entries()).toMatchObject([{ advance_run: true }]);
  });

  test("of a former owner is discarded, and its message is left to the new one (I2)", async () => {
    const { world, deliver } = setupWorker();
    world.table.strike("end_succeeded", () => takeOver(world));
    expect(await deliver()).toBe("redeliver");
    expect(await world.node("a")).toMatchObject({ status: "RUNNING", epoch: 2, claim_id: "c-other" });
    expect(await world.node("a")).not.toHaveProperty("output");
    expect(world.entries()).toEqual([]);
    expect(world.counts.get("CommitRefused")).toBe(1);
  });

  test.each<[string, Item]>([
    ["has ended by another", { status: "SUCCEEDED", epoch: 2, claim_id: "c-other", output: "2" }],
    ["has moved on to another dispatch", { status: "READY", epoch: 2, claim_id: "c-other", dispatch_id: "d-2" }],
  ])("of a former owner whose node %s is discarded, and its message is acknowledged (I9)", async (_name, set) => {
    const { world, deliver } = setupWorker();
    world.table.strike("end_succeeded", () => put(world, "a", set));
    expect(await deliver()).toBe("acknowledge");
    expect(await world.node("a")).toMatchObject(set);
    expect(world.counts.get("NodeEnded")).toBeUndefined();
  });

  test("of a node that another message's worker has ended, its lease over, is not counted as recorded", async () => {
    const { world, deliver } = setupWorker();
    world.table.strike("end_succeeded", () =>
      put(world, "a", { status: "EXPIRED", effect: "unknown" }, ["lease_expires_at_ms"]),
    );
    expect(await deliver()).toBe("acknowledge");
    expect([world.counts.get("NodeEnded"), world.counts.get("CommitRefused")]).toEqual([undefined, 1]);
  });

  test("that the table does not answer in time leaves the message, and the lease ends by itself", async () => {
    const { world, deliver } = setupWorker();
    world.table.strike("end_succeeded", ...Array.from({ length: 100 }, () => "busy" as const));
    expect(await deliver()).toBe("redeliver");
    expect(world.counts.get("CommitUnsettled")).toBe(1);
    expect((await world.node("a")).status).toBe("RUNNING");
  });
});

describe("a heartbeat", () => {
  test("keeps a tool of three leases' length: lease and visibility are extended each time, one execution", async () => {
    const { world, deliver, calls } = setupWorking(95_000);
    expect(await deliver()).toBe("acknowledge");
    expect(calls).toHaveLength(1);
    const beats = world.pulse.table.writes.map(([write]) => (write?.op === "update" ? write.set : undefined));
    expect(beats).toEqual(
      Array.from({ length: 9 }, (_, index) => ({ lease_expires_at_ms: startMs + (index + 1) * 10_000 + 30_000 })),
    );
    expect(world.pulse.queue.hidden).toEqual(
      Array.from({ length: 10 }, () => ({ receiptHandle: "receipt-m-1", forMs: 32_000 })),
    );
  });

  test("that is refused stops the tool, whose outcome is discarded", async () => {
    const { world, deliver, calls } = setupWorking(95_000);
    world.pulse.table.strike("heartbeat", () => takeOver(world));
    expect(await deliver()).toBe("redeliver");
    expect(calls[0]?.context.signal.reason).toBe("lease_lost");
    expect(world.clock.monotonicMs()).toBe(10_000);
    expect(await world.node("a")).toMatchObject({ epoch: 2, status: "RUNNING" });
  });

  test.each(["busy", "lost", "throws"] as const)("that is %s once is no lost lease", async (strike) => {
    const { world, deliver, calls } = setupWorking(95_000);
    world.pulse.table.strike("heartbeat", strike);
    expect(await deliver()).toBe("acknowledge");
    expect(calls[0]?.context.signal.aborted).toBe(false);
    expect((await world.node("a")).status).toBe("SUCCEEDED");
  });

  test("that never gets through stops the tool before its lease ends", async () => {
    const { world, deliver, calls } = setupWorking(95_000);
    world.pulse.table.strike("heartbeat", ...Array.from({ length: 100 }, () => "throws" as const));
    await deliver();
    expect(calls[0]?.context.signal.reason).toBe("lease_ending");
    expect(world.clock.monotonicMs()).toBeGreaterThan(28_000);
    expect(world.clock.monotonicMs()).toBeLessThanOrEqual(30_500);
    expect(await world.node("a")).toMatchObject({ status: "READY", certain_through_epoch: 0 });
  });

  test("that got through once gives the lease its full length from then on", async () => {
    const { world, deliver, calls } = setupWorking(95_000);
    world.pulse.table.strike("heartbeat", () => undefined, ...Array.from({ length: 100 }, () => "busy" as const));
    await deliver();
    expect(calls[0]?.context.signal.reason).toBe("lease_ending");
    expect(world.clock.monotonicMs()).toBeGreaterThan(38_000);
    expect(world.clock.monotonicMs()).toBeLessThanOrEqual(40_500);
    expect(world.counts.get("HeartbeatBusy")).toBe(9);
  });

  test("brings word of a cancelled run: the tool is stopped, and the effect is unknown", async () => {
    const { world, deliver, calls } = setupWorking(95_000);
    world.pulse.table.strike("heartbeat", () =>
      world.memory.write({ op: "update", name: "x", key: runKey("r"), set: { status: "CANCELLING" }, conditions: [] }),
    );
    expect(await deliver()).toBe("acknowledge");
    expect(calls[0]?.context.signal.reason).toBe("cancelled");
    expect(await world.node("a")).toMatchObject({ status: "CANCELLED", effect: "unknown" });
  });

  test("of a cancelled run whose tool succeeds all the same keeps the success as fact", async () => {
    const worker: WorkerSetup = setupWorker({
      execute: async () => {
        await worker.world.clock.sleep(10_500);
        return "x";
      },
    });
    worker.world.pulse.table.strike("heartbeat", () =>
      worker.world.memory.write({
        op: "update",
        name: "x",
        key: runKey("r"),
        set: { status: "CANCELLING" },
        conditions: [],
      }),
    );
    expect(await worker.deliver()).toBe("acknowledge");
    expect(worker.calls[0]?.context.signal.reason).toBe("cancelled");
    expect(await worker.world.node("a")).toMatchObject({ status: "SUCCEEDED", output: '"x"' });
  });

  test("stops with its attempt: nothing beats, and no timer is left, when the message is done", async () => {
    const { world, deliver } = setupWorking(15_000);
    await deliver();
    expect(world.clock.sleepers()).toBe(0);
    const beats = world.pulse.table.sent.length;
    await world.clock.advance(600_000);
    expect(world.pulse.table.sent).toHaveLength(beats);
  });
});

describe("an attempt's time", () => {
  test.each<[string, Parameters<typeof setupWorker>[0], number, string, string]>([
    ["the tool's own limit", { tool: { timeoutMs: 5_000 } }, 5_000, "timeout", "READY"],
    ["the limit of any attempt", {}, 240_000, "timeout", "READY"],
    [
      "the run's deadline",
      { items: [itemOf(nodeWith({ deadline_at_ms: startMs + 7_000 }))] },
      7_000,
      "deadline",
      "EXPIRED",
    ],
  ])("is over at %s: the tool is stopped, and its effect is open", async (_name, options, ms, reason, status) => {
    const { world, deliver, calls } = setupWorking(1_000_000, options);
    expect(await deliver()).toBe("acknowledge");
    expect(calls[0]?.context.signal.reason).toBe(reason);
    expect(world.clock.monotonicMs()).toBe(ms);
    expect(await world.node("a")).toMatchObject({ status, certain_through_epoch: 0 });
  });

  test("ends early enough to commit in what is left of the invocation", async () => {
    const { world, deliver } = setupWorking(1_000_000);
    expect(await deliver({ remainingMs: 60_000 })).toBe("acknowledge");
    expect(world.clock.monotonicMs()).toBe(53_000);
  });
});

describe("a tool that does not stop when told to", () => {
  test("is recorded as unknown once its grace is over, and then its process ends", async () => {
    const { world, deliver, endedAtMs } = setupWorker({ execute: never, tool: { timeoutMs: 5_000 } });
    await expect(deliver()).rejects.toThrow(processEnded);
    expect(endedAtMs()).toBe(7_000);
    expect(await world.node("a")).toMatchObject({
      status: "READY",
      certain_through_epoch: 0,
      error: expect.stringContaining("ToolDidNotStop"),
    });
    expect(world.entries()).toHaveLength(1);
  });

  test("has its process ended though nothing could be recorded", async () => {
    const { world, deliver, endedAtMs } = setupWorker({ execute: never, tool: { timeoutMs: 5_000 } });
    world.table.strike("retry", ...Array.from({ length: 100 }, () => "busy" as const));
    await expect(deliver()).rejects.toThrow(processEnded);
    expect(endedAtMs()).toBeDefined();
    expect((await world.node("a")).status).toBe("RUNNING");
  });

  test("but does within its grace is recorded as what it says, and its process lives", async () => {
    const worker: WorkerSetup = setupWorker({
      tool: { timeoutMs: 5_000 },
      execute: async () => {
        await worker.world.clock.sleep(6_999);
        return "late";
      },
    });
    expect(await worker.deliver()).toBe("acknowledge");
    expect(await worker.world.node("a")).toMatchObject({ status: "SUCCEEDED", output: '"late"' });
    expect(worker.endedAtMs()).toBeUndefined();
  });
});

test("a taken-over node is the new owner's from its claim on, and the first owner's mark is gone", async () => {
  const { world, deliver } = setupWorker({
    items: [itemOf(runningWith({ lease_expires_at_ms: startMs - 2_001, claim_id: "c-dead" }))],
  });
  expect(await deliver({ messageId: "m-2" })).toBe("acknowledge");
  expect(await world.node("a")).toMatchObject({
    status: "SUCCEEDED",
    epoch: 2,
    attempts_used: 2,
    claim_id: "fresh-1",
    certain_through_epoch: 2,
  });
});

function revokedProxy(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}
