/** Each way in which an attempt may end, by the class of its tool: what is known, who may take over and when (design section 6). */
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { NonRetryableError, RetryableError } from "../../../shared/errors.ts";
import { operationIdOf, runKey } from "../../../shared/keys.ts";
import type { NodeItem, RunItem } from "../../../shared/model.ts";
import type { AnyTool, Reconciled, ToolContext } from "../../../shared/tool.ts";
import type { Item } from "../../../shared/write.ts";
import { itemOf, nodeWith, pendingWith, runningWith, startMs } from "../../support/world.ts";
import { processEnded, setupWorker, type WorkerSetup } from "./worker-parts.ts";

const throwing = (thrown: unknown) => () => {
  throw thrown;
};
const never = () => new Promise<never>(() => {});
const busy = Array.from({ length: 300 }, () => "busy" as const);
const skewMs = 2_000;
/** From a claim of an invocation of 300 s on. */
const deadAfterMs = 300_000 + skewMs;

type Options = NonNullable<Parameters<typeof setupWorker>[0]>;
type Answers = (context: ToolContext) => unknown;

/** A reconcilable tool; `asked` is what `reconcile` was called with. */
function setupReconcilable(answers: Answers, options: Options = {}): WorkerSetup & { readonly asked: ToolContext[] } {
  const asked: ToolContext[] = [];
  const worker = setupWorker({
    ...options,
    tool: {
      effect: "reconcilable",
      reconcile: async (_input, context) => {
        asked.push(context);
        return (await answers(context)) as Reconciled<unknown>;
      },
      ...options.tool,
    },
  });
  return { ...worker, asked };
}
const setupOnce = (options: Options = {}): WorkerSetup =>
  setupWorker({ ...options, tool: { effect: "at_most_once", ...options.tool } });

/** RUNNING, its owner dead since a millisecond ago. */
const abandoned = (part: Partial<NodeItem> = {}): NodeItem =>
  runningWith({
    lease_expires_at_ms: startMs - 272_000,
    owner_dead_at_ms: startMs - 1,
    open_since_ms: startMs - 302_000,
    ...part,
  });
/** READY again after an attempt whose outcome nobody knows. */
const openAndReady = (part: Partial<NodeItem> = {}): NodeItem =>
  nodeWith({ epoch: 1, attempts_used: 1, open_since_ms: startMs - 302_000, dispatch_id: "d-1", ...part });
const doubtOf = (node: NodeItem): unknown => JSON.parse(node.doubt ?? "null");
const cancelled = { status: "CANCELLING" } as const satisfies Partial<RunItem>;
const late = { deadline_at_ms: startMs - 1 };
/** What ends a node of any other class. */
const hopeless: readonly (readonly [string, Partial<NodeItem>, Partial<RunItem>])[] = [
  ["with attempts left", {}, {}],
  ["with its attempts used up", { attempts_used: 5 }, {}],
  ["past its deadline", late, late],
  ["in a run that is being cancelled", {}, cancelled],
  ["with all of that at once", { attempts_used: 5, ...late }, { ...cancelled, ...late }],
];

describe("an attempt that ended well or certainly", () => {
  test.each(["read_only", "idempotent", "at_most_once", "reconcilable"] as const)(
    "%s: what is certain is recorded as such, whatever the class",
    async (effect) => {
      const tool: Partial<AnyTool> =
        effect === "reconcilable" ? { effect, reconcile: async () => ({ is: "unknown" }) } : { effect };
      const rows: [(input: unknown) => unknown, Item, Item][] = [
        [() => 1, { status: "SUCCEEDED", effect: "done", certain_through_epoch: 1 }, { output: z.number() } as never],
        [() => "x", { status: "FAILED", effect: "done", certain_through_epoch: 1, output: '"x"' }, {}],
        [throwing(new NonRetryableError("no")), { status: "FAILED", effect: "none", certain_through_epoch: 1 }, {}],
        [throwing(new RetryableError("no")), { status: "READY", certain_through_epoch: 1, attempts_used: 1 }, {}],
      ];
      for (const [execute, found] of rows) {
        const { world, deliver } = setupWorker({ execute, tool: { ...tool, output: z.number() } });
        expect(await deliver()).toBe("acknowledge");
        const node = await world.node("a");
        expect(node).toMatchObject(found);
        expect(node).not.toHaveProperty("open_since_ms");
      }
    },
  );

  test("a careful tool's certain error lets it run again, since nothing is open", async () => {
    for (const setup of [setupOnce, (options: Options) => setupReconcilable(never, options)]) {
      const { world, deliver, calls } = setup({
        execute: (_input, context) => {
          if ((context as ToolContext).attempt === 1) throw new RetryableError("not yet", { retryAfterMs: 0 });
          return "done";
        },
      });
      await deliver();
      expect(await deliver({ dispatchId: "d-1" })).toBe("acknowledge");
      expect(calls.map(({ context }) => [context.attempt, context.fencingToken])).toEqual([
        [1, 1],
        [2, 2],
      ]);
      expect(await world.node("a")).toMatchObject({ status: "SUCCEEDED", certain_through_epoch: 2 });
    }
  });
});

describe("at_most_once", () => {
  test.each<[string, Options, string]>([
    ["threw who knows what", { execute: throwing(new Error("who knows")) }, "who knows"],
    ["heeded its time-out", { tool: { timeoutMs: 5_000 }, execute: heedful }, "stopped: timeout"],
    [
      "heeded the deadline",
      { items: [itemOf(nodeWith({ deadline_at_ms: startMs + 7_000 }))], execute: heedful },
      "deadline",
    ],
    [
      "failed on its last attempt",
      { items: [itemOf(nodeWith({ attempts_used: 4 }))], execute: throwing(new Error("last")) },
      "last",
    ],
  ])("that %s is in doubt, with when, why, which attempt and the error", async (_name, options, says) => {
    const { world, deliver } = setupOnce(options);
    clockOf.world = world;
    expect(await deliver()).toBe("acknowledge");
    const node = await world.node("a");
    expect(node).toMatchObject({ status: "IN_DOUBT", epoch: 1, certain_through_epoch: 0, open_since_ms: startMs });
    expect(node.error).toContain(says);
    expect(doubtOf(node)).toEqual({
      atMs: world.clock.nowMs(),
      why: "the tool failed and did not say that nothing happened",
      attempt: node.attempts_used,
      reconciles: 0,
    });
    expect(await world.run()).not.toHaveProperty("expires_at");
    expect(world.entries()).toEqual([]);
    expect(world.counts.get("NodeInDoubt")).toBe(1);
  });

  test("that was told of a cancel and stopped is in doubt all the same, and the run stays CANCELLING", async () => {
    const { world, deliver } = setupOnce({ execute: heedful });
    clockOf.world = world;
    world.pulse.table.strike("heartbeat", () => cancel(world));
    expect(await deliver()).toBe("acknowledge");
    expect(await world.node("a")).toMatchObject({ status: "IN_DOUBT", error: expect.stringContaining("cancelled") });
    expect((await world.run()).status).toBe("CANCELLING");
  });

  test("that does not stop is in doubt, and its process ends", async () => {
    const { world, deliver, endedAtMs } = setupOnce({ execute: never, tool: { timeoutMs: 5_000 } });
    await expect(deliver()).rejects.toThrow(processEnded);
    expect(endedAtMs()).toBe(7_000);
    expect((await world.node("a")).status).toBe("IN_DOUBT");
  });

  test.each(hopeless)(
    "whose owner died, %s, is in doubt once the owner is surely dead, and not a moment before",
    async (_name, part, run) => {
      const alive = setupOnce({ items: [itemOf(abandoned({ owner_dead_at_ms: startMs, ...part }))], run });
      expect(await alive.deliver({ messageId: "m-2" })).toBe("redeliver");
      expect(alive.world.queue.hidden).toEqual([{ receiptHandle: "receipt-m-2", forMs: 1_000 }]);
      expect((await alive.world.node("a")).status).toBe("RUNNING");

      const { world, deliver, calls } = setupOnce({ items: [itemOf(abandoned(part))], run });
      expect(await deliver({ messageId: "m-2" })).toBe("acknowledge");
      expect(calls).toEqual([]);
      const node = await world.node("a");
      expect(node).toMatchObject({ status: "IN_DOUBT", epoch: 1, attempts_used: part.attempts_used ?? 1 });
      expect(node).not.toHaveProperty("expires_at");
      expect(world.entries()).toEqual([]);
    },
  );

  test.each(hopeless)("READY over an open attempt, %s, is in doubt and not run", async (_name, part, run) => {
    const { world, deliver, calls } = setupOnce({ items: [itemOf(openAndReady(part))], run });
    expect(await deliver({ dispatchId: "d-1" })).toBe("acknowledge");
    expect(calls).toEqual([]);
    expect((await world.node("a")).status).toBe("IN_DOUBT");
  });

  test("whose owner was only slow commits after its lease and leaves no doubt", async () => {
    const { world, deliver } = setupOnce({
      execute: async () => {
        // Another message's worker looks in when the lease is over, and leaves the node alone.
        world.clock.stall(60_000);
        expect(await other()).toBe("redeliver");
        return "late";
      },
    });
    const other = () => deliver({ messageId: "m-2" });
    expect(await deliver()).toBe("acknowledge");
    expect(await world.node("a")).toMatchObject({ status: "SUCCEEDED", epoch: 1, output: '"late"' });
  });
});

/** Ends early when told to, by the clock of the world at hand. */
const clockOf: { world?: WorkerSetup["world"] } = {};
async function heedful(_input: unknown, context: ToolContext): Promise<unknown> {
  await clockOf.world?.clock.sleep(1_000_000, context.signal);
  throw new Error(`stopped: ${String(context.signal.reason)}`);
}
const cancel = (world: WorkerSetup["world"]) =>
  world.memory.write({ op: "update", name: "x", key: runKey("r"), set: { status: "CANCELLING" }, conditions: [] });

describe("reconcilable", () => {
  test("whose outcome nobody knows comes back when its owner is surely dead, and then is looked up first", async () => {
    const { world, deliver, calls, asked } = setupReconcilable(() => ({ is: "done", output: "found" }), {
      execute: throwing(new Error("who knows")),
    });
    expect(await deliver()).toBe("acknowledge");
    expect(await world.node("a")).toMatchObject({
      status: "READY",
      dispatch_id: "d-1",
      not_before_ms: startMs + deadAfterMs,
      certain_through_epoch: 0,
    });
    expect(await deliver({ dispatchId: "d-1" })).toBe("redeliver");
    expect(asked).toEqual([]);
    world.clock.stall(deadAfterMs);
    expect(await deliver({ dispatchId: "d-1" })).toBe("acknowledge");
    expect(calls).toHaveLength(1);
    expect(asked).toHaveLength(1);
    expect(await world.node("a")).toMatchObject({ status: "SUCCEEDED", output: '"found"', effect: "done" });
  });

  test.each(hopeless)(
    "done, %s: SUCCEEDED with the output that was found, and no attempt used",
    async (_name, part, run) => {
      for (const [node, dispatchId] of [
        [abandoned(part), "d-0"],
        [openAndReady(part), "d-1"],
      ] as const) {
        const { world, deliver, calls, asked } = setupReconcilable(() => ({ is: "done", output: { code: 7 } }), {
          items: [itemOf(node)],
          run,
        });
        expect(await deliver({ dispatchId, messageId: "m-2" })).toBe("acknowledge");
        expect([calls.length, asked.length]).toEqual([0, 1]);
        expect(await world.node("a")).toMatchObject({
          status: "SUCCEEDED",
          effect: "done",
          output: '{"code":7}',
          epoch: 2,
          certain_through_epoch: 2,
          attempts_used: node.attempts_used,
        });
      }
    },
  );

  test("is asked with the operation's own id and a higher fencing token than the attempt that it looks up", async () => {
    const { deliver, asked } = setupReconcilable(() => ({ is: "not_done" }), { items: [itemOf(abandoned())] });
    await deliver({ messageId: "m-2" });
    expect(asked[0]).toMatchObject({
      operationId: operationIdOf("test", "r", "g", "a"),
      fencingToken: 2,
      attempt: 1,
      runId: "r",
      nodeId: "a",
    });
  });

  test("not done: READY at once as a new dispatch, all certain, its reconciles forgotten; then it runs", async () => {
    const { world, deliver, calls } = setupReconcilable(() => ({ is: "not_done" }), {
      items: [itemOf(abandoned({ reconciles_used: 4 }))],
    });
    expect(await deliver({ messageId: "m-2" })).toBe("acknowledge");
    const node = await world.node("a");
    expect(node).toMatchObject({
      status: "READY",
      dispatch_id: "d-2",
      not_before_ms: startMs,
      attempts_used: 1,
      certain_through_epoch: 2,
    });
    for (const gone of ["open_since_ms", "reconciles_used"]) expect(node).not.toHaveProperty(gone);
    expect(await deliver({ dispatchId: "d-2", messageId: "m-3" })).toBe("acknowledge");
    expect(calls.map(({ context }) => [context.attempt, context.fencingToken])).toEqual([[2, 3]]);
    expect((await world.node("a")).status).toBe("SUCCEEDED");
  });

  test.each([
    ["attempts used up", { attempts_used: 5 }, {}, "FAILED"],
    ["deadline passed", late, late, "EXPIRED"],
    ["cancelled", {}, cancelled, "CANCELLED"],
  ] as const)("not done and %s: the next claim ends it, and its effect is none", async (_name, part, run, status) => {
    const { world, deliver, calls } = setupReconcilable(() => ({ is: "not_done" }), {
      items: [itemOf(abandoned(part))],
      run,
    });
    await deliver({ messageId: "m-2" });
    expect(await deliver({ dispatchId: "d-2", messageId: "m-3" })).toBe("acknowledge");
    expect(calls).toEqual([]);
    expect(await world.node("a")).toMatchObject({ status, effect: "none" });
  });

  test("done with an output that breaks the schema: FAILED, effect done, raw value kept, never again", async () => {
    const { world, deliver } = setupReconcilable(() => ({ is: "done", output: "x" }), {
      items: [itemOf(abandoned())],
      tool: { output: z.number() },
    });
    await deliver({ messageId: "m-2" });
    expect(await world.node("a")).toMatchObject({
      status: "FAILED",
      effect: "done",
      output: '"x"',
      certain_through_epoch: 2,
    });
  });

  const cyclic: { self?: unknown } = {};
  cyclic.self = cyclic;
  const unclear: readonly (readonly [string, Answers, string])[] = [
    ["unknown", () => ({ is: "unknown" }), "reconcile answered unknown"],
    ["nothing", () => undefined, "must answer done, not_done or unknown, got undefined"],
    ["null", () => null, "got null"],
    ["true", () => true, "got true"],
    ["another word", () => ({ is: "maybe" }), 'got {\\"is\\":\\"maybe\\"}'],
    ["not_done in words", () => "not_done", 'got \\"not_done\\"'],
    ["what JSON cannot hold", () => cyclic, "circular"],
    [
      "an object whose fields throw",
      () => Object.defineProperty({}, "is", { get: throwing(new Error("torn")) }),
      "torn",
    ],
    ["an error", throwing(new TypeError("down")), "down"],
    ["a certain error, which speaks of the look-up alone", throwing(new NonRetryableError("no")), "no"],
  ];
  test.each(unclear)(
    "that answers %s stays open and is asked again later, within its own budget",
    async (_name, answers, says) => {
      for (const [, part, run] of hopeless) {
        const { world, deliver, calls } = setupReconcilable(answers, {
          items: [itemOf(abandoned({ reconciles_used: 2, ...part }))],
          run,
        });
        expect(await deliver({ messageId: "m-2" })).toBe("acknowledge");
        expect(calls).toEqual([]);
        const node = await world.node("a");
        expect(node).toMatchObject({
          status: "READY",
          dispatch_id: "d-2",
          reconciles_used: 3,
          attempts_used: part.attempts_used ?? 1,
          not_before_ms: startMs + 2_000,
          certain_through_epoch: 0,
          open_since_ms: startMs - 302_000,
        });
        expect(node.error).toContain(says);
      }
    },
  );

  test.each(unclear)(
    "that answers %s for the last time leaves a doubt that says how often it was asked",
    async (_name, answers, says) => {
      const { world, deliver } = setupReconcilable(answers, {
        items: [itemOf(abandoned({ reconciles_used: 2 }))],
        tool: { reconcileRetry: { attempts: 3 } },
      });
      expect(await deliver({ messageId: "m-2" })).toBe("acknowledge");
      const node = await world.node("a");
      expect(node).toMatchObject({ status: "IN_DOUBT", epoch: 2, error: expect.stringContaining(says) });
      expect(doubtOf(node)).toEqual({
        atMs: startMs,
        why: "reconcile could not tell in 3 calls",
        attempt: 1,
        reconciles: 3,
      });
    },
  );

  test("whose budget was used up by calls that died is in doubt without another call", async () => {
    const { world, deliver, asked } = setupReconcilable(() => ({ is: "not_done" }), {
      items: [itemOf(abandoned({ reconciles_used: 3, epoch: 4 }))],
      tool: { reconcileRetry: { attempts: 3 } },
    });
    expect(await deliver({ messageId: "m-2" })).toBe("acknowledge");
    expect(asked).toEqual([]);
    expect(await world.node("a")).toMatchObject({ status: "IN_DOUBT", epoch: 4 });
  });

  test("that hangs is told to stop at its own time limit and, heeding it, is asked again", async () => {
    const worker = setupReconcilable(heedfulAnswer, {
      items: [itemOf(abandoned())],
      tool: { reconcileRetry: { timeoutMs: 4_000 } },
    });
    clockOf.world = worker.world;
    expect(await worker.deliver({ messageId: "m-2" })).toBe("acknowledge");
    expect(worker.world.clock.monotonicMs()).toBe(4_000);
    expect(worker.asked[0]?.signal.reason).toBe("timeout");
    expect(await worker.world.node("a")).toMatchObject({
      status: "READY",
      reconciles_used: 1,
      certain_through_epoch: 0,
    });
    expect(worker.endedAtMs()).toBeUndefined();
  });

  test("has 30 s where it says nothing, and is not stopped by deadline or cancel", async () => {
    const worker = setupReconcilable(heedfulAnswer, {
      items: [itemOf(abandoned({ deadline_at_ms: startMs + 1_000 }))],
    });
    clockOf.world = worker.world;
    worker.world.pulse.table.strike("heartbeat", () => cancel(worker.world));
    await worker.deliver({ messageId: "m-2" });
    expect(worker.world.clock.monotonicMs()).toBe(30_000);
    expect(worker.asked[0]?.signal.reason).toBe("timeout");
  });

  test("that ignores its abort is recorded as having found nothing, and its process ends", async () => {
    const worker = setupReconcilable(never, {
      items: [itemOf(abandoned())],
      tool: { reconcileRetry: { timeoutMs: 4_000 } },
    });
    await expect(worker.deliver({ messageId: "m-2" })).rejects.toThrow(processEnded);
    expect(worker.endedAtMs()).toBe(6_000);
    expect(await worker.world.node("a")).toMatchObject({
      status: "READY",
      reconciles_used: 1,
      certain_through_epoch: 0,
      error: expect.stringContaining("ToolDidNotStop"),
    });
  });

  test("that dies while it is asked is asked again once that owner is surely dead, too", async () => {
    const worker = setupReconcilable(() => ({ is: "not_done" }), { items: [itemOf(abandoned())] });
    worker.world.table.strike("not_done", "throws");
    await expect(worker.deliver({ messageId: "m-2" })).rejects.toThrow("not_done");
    const node = await worker.world.node("a");
    expect(node).toMatchObject({ status: "RUNNING", epoch: 2, reconciles_used: 1, attempts_used: 1 });
    expect(node.owner_dead_at_ms).toBe(startMs + deadAfterMs);
    worker.world.clock.stall(60_000);
    expect(await worker.deliver({ messageId: "m-3" })).toBe("redeliver");
    expect(worker.asked).toHaveLength(1);
    worker.world.clock.stall(deadAfterMs);
    expect(await worker.deliver({ messageId: "m-3" })).toBe("acknowledge");
    expect(await worker.world.node("a")).toMatchObject({ status: "READY", epoch: 3, certain_through_epoch: 3 });
  });

  test.each<[string, (world: WorkerSetup["world"]) => void]>([
    ["the run cannot be read", (world) => world.table.strike("RUN", "throws")],
    ["the input cannot be read", (world) => world.table.strike("INPUT#a", "throws")],
  ])("where %s is not asked, uses up one of its calls, and is tried later", async (_name, strike) => {
    const { world, deliver, asked } = setupReconcilable(() => ({ is: "not_done" }), {
      items: [itemOf(abandoned({ input: undefined, input_beside: true }))],
    });
    strike(world);
    expect(await deliver({ messageId: "m-2" })).toBe("acknowledge");
    expect(asked).toEqual([]);
    expect(await world.node("a")).toMatchObject({ status: "READY", reconciles_used: 1, certain_through_epoch: 0 });
  });

  test("whose input no longer fits is not asked, and is never ended as failed", async () => {
    const { world, deliver, asked } = setupReconcilable(() => ({ is: "not_done" }), {
      items: [itemOf(abandoned({ reconciles_used: 9 }))],
      tool: { input: z.object({ needed: z.string() }) },
    });
    await deliver({ messageId: "m-2" });
    expect(asked).toEqual([]);
    expect((await world.node("a")).status).toBe("IN_DOUBT");
  });
});

describe("a claim to reconcile", () => {
  test.each(["lost", "busy"] as const)("whose answer is %s is made once (I10)", async (strike) => {
    const { world, deliver, asked } = setupReconcilable(() => ({ is: "done", output: 1 }), {
      items: [itemOf(abandoned())],
    });
    world.table.strike("claim_to_reconcile", strike);
    expect(await deliver({ messageId: "m-2" })).toBe("acknowledge");
    expect(asked).toHaveLength(1);
    expect(await world.node("a")).toMatchObject({ status: "SUCCEEDED", epoch: 2 });
  });

  test("that another was faster with leaves the message", async () => {
    const { world, deliver, asked } = setupReconcilable(() => ({ is: "not_done" }), { items: [itemOf(abandoned())] });
    world.table.strike("claim_to_reconcile", () =>
      world.memory.write({
        op: "update",
        name: "x",
        key: { pk: "RUN#r", sk: "NODE#a" },
        set: { epoch: 2, claim_id: "c-other", lease_expires_at_ms: startMs + 30_000 },
        conditions: [],
      }),
    );
    expect(await deliver({ messageId: "m-2" })).toBe("redeliver");
    expect(asked).toEqual([]);
    expect(await world.node("a")).toMatchObject({ epoch: 2, claim_id: "c-other" });
  });

  test("of two messages at the same instant is one's alone", async () => {
    const { world, deliver, asked } = setupReconcilable(() => ({ is: "done", output: 1 }), {
      items: [itemOf(abandoned())],
    });
    await Promise.all([deliver({ messageId: "m-2" }), deliver({ messageId: "m-3" })]);
    expect(asked).toHaveLength(1);
    expect(await world.node("a")).toMatchObject({ status: "SUCCEEDED", epoch: 2, certain_through_epoch: 2 });
  });
});

describe("a doubt that is entered", () => {
  test.each([1, 2])("by its owner, its answer lost %i times, is known as one's own write (I10)", async (times) => {
    const { world, deliver } = setupOnce({ execute: throwing(new Error("x")) });
    world.table.strike("enter_doubt", ...Array.from({ length: times }, () => "lost" as const));
    expect(await deliver()).toBe("acknowledge");
    expect([world.counts.get("NodeInDoubt"), world.counts.get("CommitRefused")]).toEqual([1, undefined]);
  });

  test("by a former owner is refused, and the node is the new one's (I2)", async () => {
    const { world, deliver } = setupOnce({ execute: throwing(new Error("x")) });
    world.table.strike("enter_doubt", () =>
      world.memory.write({
        op: "update",
        name: "x",
        key: { pk: "RUN#r", sk: "NODE#a" },
        set: { epoch: 2, claim_id: "c-other" },
        conditions: [],
      }),
    );
    expect(await deliver()).toBe("redeliver");
    expect(await world.node("a")).toMatchObject({ status: "RUNNING", epoch: 2 });
    expect(await world.run()).toHaveProperty("expires_at");
  });

  test("as found is refused when a slow owner commits first, and that success stays", async () => {
    const { world, deliver } = setupOnce({ items: [itemOf(abandoned())] });
    world.table.strike("enter_doubt", () =>
      world.memory.write({
        op: "update",
        name: "x",
        key: { pk: "RUN#r", sk: "NODE#a" },
        set: { status: "SUCCEEDED" },
        conditions: [],
      }),
    );
    expect(await deliver({ messageId: "m-2" })).toBe("redeliver");
    expect((await world.node("a")).status).toBe("SUCCEEDED");
    expect(await deliver({ messageId: "m-2" })).toBe("acknowledge");
  });

  test.each<[string, Options, object]>([
    ["by its owner", { execute: throwing(new Error("x")) }, {}],
    ["as found", { items: [itemOf(abandoned())] }, { messageId: "m-2" }],
  ])(
    "%s, the run gone or another's, holds the node alone and does not come back for ever",
    async (_name, options, delivery) => {
      const { world, deliver } = setupOnce(options);
      world.table.strike("enter_doubt", () =>
        world.memory.write({ op: "update", name: "x", key: runKey("r"), set: { generation: "h" }, conditions: [] }),
      );
      expect(await deliver(delivery)).toBe("acknowledge");
      expect((await world.node("a")).status).toBe("IN_DOUBT");
      expect(await world.run()).toHaveProperty("expires_at");
    },
  );

  test("makes its messages superfluous, and holds its dependents and its run", async () => {
    const { world, deliver, calls } = setupOnce({
      execute: throwing(new Error("x")),
      items: [itemOf(nodeWith({ dependents: '[["b",1]]' })), itemOf(pendingWith())],
      run: { waiting_on: new Set([1]) },
    });
    await deliver();
    for (const messageId of ["m-1", "m-2"]) expect(await deliver({ messageId })).toBe("acknowledge");
    expect(calls).toHaveLength(1);
    expect((await world.node("b")).status).toBe("PENDING");
    expect((await world.run()).status).toBe("RUNNING");
  });
});

describe("idempotent", () => {
  const keyLifetimeMs = 1_000_000;
  const functionTimeoutMs = 300_000;
  const openSince = (agoMs: number, part: Partial<NodeItem> = {}) =>
    setupWorker({
      items: [itemOf(openAndReady({ open_since_ms: startMs - agoMs, ...part }))],
      tool: { keyLifetimeMs },
    });

  test("runs again under the same operation id as long as its key lives, the function timeout kept in hand", async () => {
    const { world, deliver, calls } = openSince(keyLifetimeMs - functionTimeoutMs - 1);
    expect(await deliver({ dispatchId: "d-1" })).toBe("acknowledge");
    expect(calls[0]?.context).toMatchObject({ operationId: operationIdOf("test", "r", "g", "a"), attempt: 2 });
    expect((await world.node("a")).status).toBe("SUCCEEDED");
  });

  test.each([keyLifetimeMs - functionTimeoutMs, keyLifetimeMs * 9])(
    "is in doubt %i ms after its oldest open attempt was claimed, and is not run",
    async (agoMs) => {
      const { world, deliver, calls } = openSince(agoMs);
      expect(await deliver({ dispatchId: "d-1" })).toBe("acknowledge");
      expect(calls).toEqual([]);
      const node = await world.node("a");
      expect(node).toMatchObject({ status: "IN_DOUBT", epoch: 2, open_since_ms: startMs - agoMs });
      expect(doubtOf(node)).toMatchObject({ why: expect.stringContaining(`older than ${keyLifetimeMs} ms`) });
      expect(await world.run()).not.toHaveProperty("expires_at");
    },
  );

  test("counts from the oldest open attempt, and anew once an attempt was certain", async () => {
    const { world, deliver } = setupWorker({ execute: throwing(new Error("x")) });
    await deliver();
    world.clock.stall(60_000);
    await deliver({ dispatchId: "d-1" });
    expect((await world.node("a")).open_since_ms).toBe(startMs);

    const certain = setupWorker({ execute: throwing(new RetryableError("x")) });
    await certain.deliver();
    certain.world.clock.stall(60_000);
    certain.world.table.strike("retry", ...busy);
    await certain.deliver({ dispatchId: "d-1" });
    expect((await certain.world.node("a")).open_since_ms).toBe(startMs + 60_000);
  });

  test("without a lifetime of its own has a day", async () => {
    const day = 86_400_000;
    for (const [agoMs, status] of [
      [day - functionTimeoutMs - 1, "SUCCEEDED"],
      [day - functionTimeoutMs, "IN_DOUBT"],
    ] as const) {
      const { world, deliver } = setupWorker({ items: [itemOf(openAndReady({ open_since_ms: startMs - agoMs }))] });
      await deliver({ dispatchId: "d-1" });
      expect((await world.node("a")).status).toBe(status);
    }
  });

  test("and read_only, whose owner died, are taken over when the lease is over, dead owner or not", async () => {
    for (const effect of ["idempotent", "read_only"] as const) {
      const node = abandoned({ owner_dead_at_ms: startMs + 200_000, lease_expires_at_ms: startMs - skewMs - 1 });
      const { world, deliver, calls } = setupWorker({ items: [itemOf(node)], tool: { effect } });
      expect(await deliver({ messageId: "m-2" })).toBe("acknowledge");
      expect(calls).toHaveLength(1);
      expect((await world.node("a")).status).toBe("SUCCEEDED");
    }
  });

  test("read_only forgets no key: it runs again however late", async () => {
    const { world, deliver } = setupWorker({
      items: [itemOf(openAndReady({ open_since_ms: 1 }))],
      tool: { effect: "read_only" },
    });
    await deliver({ dispatchId: "d-1" });
    expect((await world.node("a")).status).toBe("SUCCEEDED");
  });

  test.each([
    ["attempts used up", { attempts_used: 5 }, {}, "FAILED"],
    ["deadline passed", late, {}, "EXPIRED"],
    ["cancelled", {}, cancelled, "CANCELLED"],
  ] as const)("and read_only with an open attempt and %s end with effect unknown", async (_name, part, run, status) => {
    for (const effect of ["idempotent", "read_only"] as const) {
      const { world, deliver } = setupWorker({ items: [itemOf(openAndReady(part))], run, tool: { effect } });
      expect(await deliver({ dispatchId: "d-1" })).toBe("acknowledge");
      expect(await world.node("a")).toMatchObject({ status, effect: "unknown", certain_through_epoch: 0 });
    }
  });
});

async function heedfulAnswer(context: ToolContext): Promise<unknown> {
  return heedful(undefined, context);
}
