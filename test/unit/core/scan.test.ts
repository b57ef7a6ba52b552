/** The scanner knows from the nodes' states alone what is owed, and brings every run to its end by itself (I7, I8). */
import { describe, expect, test } from "vitest";
import { runKey } from "../../../shared/keys.ts";
import { fixed } from "../../../shared/limits.ts";
import type { NodeItem, RunItem } from "../../../shared/model.ts";
import { scanPass } from "../../../shared/scan.ts";
import type { Item, Key } from "../../../shared/write.ts";
import {
  itemOf,
  nodeWith,
  pendingWith,
  runWith,
  startMs,
  type TestWorld,
  testLimits,
  testWorld,
} from "../../support/world.ts";

const minute = 60_000;
const stranded = (part: Partial<NodeItem> = {}) => nodeWith({ ready_at_ms: startMs - minute, ...part });

function setup(...items: readonly (Item & Key)[]) {
  const world = testWorld(...items);
  return {
    world,
    scan: (remainingMs = () => 60_000) => world.clock.during(scanPass(world, testLimits(), remainingMs)),
  };
}
/** Run `id` with one stranded node. */
const runOf = (id: string, part: Partial<RunItem> = {}) => [
  itemOf(runWith({ run_id: id, ...part })),
  itemOf(stranded({ run_id: id })),
];

describe("a pass", () => {
  test("wakes what is stranded, and moves the run's next look", async () => {
    const { world, scan } = setup(...runOf("r"));
    expect(await scan()).toEqual({ runs: 1, messages: 1, failures: 0 });
    expect(world.queue.sent).toEqual([{ dispatch: { run_id: "r", node_id: "a", dispatch_id: "d-0" }, delayMs: 0 }]);
    expect(await world.run()).toMatchObject({ scan_at_ms: startMs + minute, scanned_at_ms: startMs });
    expect(world.counts.get("MessagesSentByScanner")).toBe(1);
  });

  test("right after another finds nothing due", async () => {
    const { world, scan } = setup(...runOf("r"));
    await scan();
    expect(await scan()).toEqual({ runs: 0, messages: 0, failures: 0 });
    expect(world.queue.sent).toHaveLength(1);
  });

  test("looks at every shard, whichever it begins with", async () => {
    for (const fraction of [0, 0.5, 0.999]) {
      const items = Array.from({ length: fixed.scanShards }, (_, shard) =>
        runOf(`r${shard}`, { scan_shard: shard }),
      ).flat();
      const { world, scan } = setup(...items);
      world.fraction = fraction;
      expect(await scan()).toMatchObject({ runs: fixed.scanShards, messages: fixed.scanShards });
    }
  });

  test("leaves a run alone that is not due yet", async () => {
    const { scan } = setup(...runOf("r", { scan_at_ms: startMs + 1 }));
    expect(await scan()).toMatchObject({ runs: 0 });
  });

  test("decides nothing that a worker could decide: a READY node past its deadline is woken", async () => {
    const { world, scan } = setup(itemOf(runWith()), itemOf(stranded({ deadline_at_ms: startMs - minute })));
    await scan();
    expect(world.queue.sent).toHaveLength(1);
    expect((await world.node("a")).status).toBe("READY");
  });

  test("ends when too little time is left, and the next one goes on", async () => {
    const { world, scan } = setup(...runOf("r1"), ...runOf("r2"));
    const report = await scan(() => (world.queue.sent.length === 0 ? 10_000 : 9_999));
    expect(report).toMatchObject({ runs: 1 });
    expect(await scan()).toMatchObject({ runs: 1 });
    expect(world.queue.sent).toHaveLength(2);
  });
});

describe("one run that cannot be scanned keeps no other waiting", () => {
  const others = [...runOf("r2"), ...runOf("r3")];

  test("because it cannot be read now", async () => {
    const { world, scan } = setup(...runOf("r1"), ...others);
    world.table.strike("query RUN#r1", "throws");
    expect(await scan()).toMatchObject({ runs: 2, messages: 2, failures: 1 });
    expect(world.counts.get("ScanFailed")).toBe(1);
    expect(await world.run("r1")).toMatchObject({ scan_at_ms: startMs });
  });

  test("because another version wrote one of its items", async () => {
    const bad = { ...itemOf(stranded({ run_id: "r1" })), v: 2 };
    const { scan } = setup(itemOf(runWith({ run_id: "r1" })), bad, ...others);
    expect(await scan()).toMatchObject({ runs: 2, failures: 1 });
  });

  test("because its messages are not accepted: they are sent again a minute later, and it keeps no place at the head till then", async () => {
    const { world, scan } = setup(...runOf("r1"), ...others);
    world.queue.refuses = ({ dispatch }) => dispatch.run_id === "r1";
    expect(await scan()).toMatchObject({ runs: 2, failures: 1 });
    expect(await world.run("r1")).toMatchObject({ scan_at_ms: startMs + minute, scanned_at_ms: startMs - minute });
    expect(world.lines).toMatchObject([{ level: "error", message: "run could not be scanned" }]);
    world.queue.refuses = () => false;
    world.queue.sent.length = 0;
    world.clock.stall(minute);
    await scan();
    expect(world.queue.sent.map(({ dispatch }) => dispatch.run_id)).toContain("r1");
  });
});

describe("a pool whose queue takes nothing", () => {
  const pooled = (run_id: string) => itemOf(stranded({ run_id, pool: "broken" }));
  const refuseBroken = (world: TestWorld): void => {
    world.queue.refuses = ({ pool }) => pool === "broken";
  };

  test("does not keep the scanner from other runs, however many of its own come before them in a pass that must end early (I7)", async () => {
    const waiting = Array.from({ length: 9 }, (_, index) => [
      itemOf(runWith({ run_id: `broken-${index}`, scan_at_ms: startMs - minute })),
      pooled(`broken-${index}`),
    ]).flat();
    const { world, scan } = setup(...waiting, ...runOf("healthy"));
    refuseBroken(world);
    // Time for three runs in each pass.
    for (let pass = 0; pass < 4; pass += 1) {
      const before = world.lines.length;
      await scan(() => (world.lines.length < before + 3 ? 60_000 : 0));
      world.clock.stall(1_000);
    }
    expect(world.queue.sent.map(({ dispatch }) => dispatch.run_id)).toEqual(["healthy"]);
  });

  test("does not multiply what other queues have taken: those nodes are woken in their growing steps", async () => {
    const { world, scan } = setup(...runOf("r"), itemOf(stranded({ node_id: "p", ordinal: 1, pool: "broken" })));
    refuseBroken(world);
    for (let pass = 0; pass < 10; pass += 1) {
      await scan();
      world.clock.stall(minute);
    }
    // At ages of 1, 2, 4 and 8 minutes.
    expect(world.queue.sent.map(({ dispatch }) => dispatch.node_id)).toEqual(["a", "a", "a", "a"]);
    world.queue.refuses = () => false;
    for (let pass = 0; pass < 6; pass += 1) {
      await scan();
      world.clock.stall(minute);
    }
    expect(world.queue.sent.map(({ dispatch }) => dispatch.node_id)).toContain("p");
  });
});

test("as many unreadable runs as one look takes do not keep the next run of their shard waiting (I7)", async () => {
  const unreadable = Array.from({ length: fixed.scanRunsPerShard }, (_, index) => ({
    ...itemOf(runWith({ run_id: `bad-${index}`, scan_at_ms: startMs - minute, scan_shard: 0 })),
    v: 2,
  }));
  const { scan } = setup(...unreadable, ...runOf("good", { scan_shard: 0 }));
  expect(await scan()).toMatchObject({ runs: 1, messages: 1, failures: fixed.scanRunsPerShard });
});

test("a shard that cannot be read keeps no other shard waiting", async () => {
  const { world, scan } = setup(...runOf("r", { scan_shard: 5 }));
  const { dueRuns } = world.table;
  Object.assign(world.table, {
    dueRuns: (shard: number, dueAtMs: number, limit: number) =>
      shard === 0 ? Promise.reject(new Error("throttled")) : dueRuns(shard, dueAtMs, limit),
  });
  expect(await scan()).toMatchObject({ runs: 1, messages: 1, failures: 1 });
});

test("a short function timeout leaves a pass its share of the time", async () => {
  const { world } = setup(...runOf("r"));
  const limits = { ...testLimits(), plainFunctionTimeoutMs: 3_000 };
  const report = await world.clock.during(scanPass(world, limits, () => 2_990));
  expect(report).toMatchObject({ runs: 1, messages: 1 });
});

describe("an index that is stale (I12)", () => {
  test.each<[string, Partial<RunItem>]>([
    ["a run that has ended", { status: "SUCCEEDED" }],
    ["a run that another pass has moved on", { scan_at_ms: startMs + minute }],
    ["a run that has left the index", { scan_at_ms: undefined }],
  ])("%s is left as it is", async (_name, part) => {
    const run = runWith(part);
    const { world, scan } = setup(itemOf(run), itemOf(stranded()));
    const table = { ...world.table, dueRuns: async (shard: number) => (shard === 0 ? ["RUN#r", "RUN#gone"] : []) };
    expect(await world.clock.during(scanPass({ ...world, table }, testLimits(), () => 60_000))).toMatchObject({
      messages: 0,
      failures: 0,
    });
    expect(await world.memory.get(runKey("r"))).toEqual(itemOf(run));
    expect(await scan()).toMatchObject({ messages: 0 });
  });

  test("a run that is moved by a command in between keeps the command's word", async () => {
    const { world, scan } = setup(...runOf("r"));
    world.table.strike("move_scan", () =>
      world.memory.write({
        op: "update",
        name: "x",
        key: runKey("r"),
        set: { scan_at_ms: startMs + 5 },
        conditions: [],
      }),
    );
    expect(await scan()).toMatchObject({ failures: 0 });
    expect(await world.run()).toMatchObject({ scan_at_ms: startMs + 5, scanned_at_ms: startMs - minute });
  });
});

describe("the scanner alone", () => {
  test("makes READY a join whose parents have ended, and sends its message", async () => {
    const { world, scan } = setup(
      itemOf(runWith({ waiting_on: new Set([1]) })),
      itemOf(nodeWith({ status: "SUCCEEDED", dependents: '[["b",0]]' })),
      itemOf(nodeWith({ node_id: "c", ordinal: 2, status: "SUCCEEDED", dependents: '[["b",0]]' })),
      itemOf(pendingWith({ waiting_on: new Set([0, 2]) })),
    );
    await scan();
    expect((await world.node("b")).status).toBe("READY");
    expect(world.queue.sent).toMatchObject([{ dispatch: { node_id: "b", dispatch_id: "d-0" } }]);
  });

  test("brings a run whose node failed to its end, a level of the graph at each look", async () => {
    const { world, scan } = setup(
      itemOf(runWith({ waiting_on: new Set([2]) })),
      itemOf(nodeWith({ status: "FAILED", dependents: '[["b",1]]' })),
      itemOf(pendingWith({ dependents: '[["c",1]]' })),
      itemOf(pendingWith({ node_id: "c", ordinal: 2, waiting_on: new Set([1]) })),
    );
    for (let look = 0; look < 3; look++) {
      await scan();
      await world.clock.advance(minute);
    }
    expect([(await world.node("b")).status, (await world.node("c")).status, (await world.run()).status]).toEqual([
      "SKIPPED",
      "SKIPPED",
      "FAILED",
    ]);
    expect(await scan()).toMatchObject({ runs: 0 });
  });

  test.each<[Partial<RunItem>, string]>([
    [{}, "SUCCEEDED"],
    [{ waiting_on: undefined }, "SUCCEEDED"],
    [{ waiting_on: undefined, dep_failed: true }, "FAILED"],
    [{ status: "CANCELLING" }, "CANCELLED"],
  ])("ends a run whose last node has ended: %j", async (part, status) => {
    const { world, scan } = setup(itemOf(runWith(part)), itemOf(nodeWith({ status: "SUCCEEDED" })));
    await scan();
    expect(await world.run()).toMatchObject({ status, ended_at_ms: startMs });
  });

  test("looks past nodes that an expired run of the same id has left", async () => {
    const { world, scan } = setup(itemOf(runWith()), itemOf(stranded({ generation: "old" })));
    await scan();
    expect(world.queue.sent).toEqual([]);
  });
});
