/** A pool is named by the tool, remembered by the node, and told with every message about it, whoever sends that. */
import { describe, expect, test } from "vitest";
import { handleCommand } from "../../../shared/command.ts";
import { RetryableError } from "../../../shared/errors.ts";
import { dependentSchema, type NodeItem, startRunSchema } from "../../../shared/model.ts";
import { anyPool, type BoundsOf, onlyPool, poolsOf } from "../../../shared/pools.ts";
import { readEntry, relayEntry } from "../../../shared/relay.ts";
import { scanPass } from "../../../shared/scan.ts";
import { startRun } from "../../../shared/start.ts";
import { type AnyTool, toolTable } from "../../../shared/tool.ts";
import type { Item } from "../../../shared/write.ts";
import {
  itemOf,
  nodeWith,
  pendingWith,
  runningWith,
  runWith,
  startMs,
  type TestWorld,
  testLimits,
  testWorld,
  toolsOf,
  toolWith,
} from "../../support/world.ts";
import { setupWorker } from "./worker-parts.ts";

const main = { attemptLimitMs: 240_000, functionTimeoutMs: 300_000 };
const heavy = { attemptLimitMs: 600_000, functionTimeoutMs: 800_000 };
const small = { attemptLimitMs: 10_000, functionTimeoutMs: 20_000 };

describe("a table of tools", () => {
  const table = (boundsOf: BoundsOf, ...tools: readonly Partial<AnyTool>[]) => toolTable(tools.map(toolWith), boundsOf);
  const all = poolsOf(
    main,
    new Map([
      ["heavy", heavy],
      ["small", small],
    ]),
  );

  test("of all tools holds each against the limits of its own pool", () => {
    const tools = [
      { name: "in-main", timeoutMs: 240_000 },
      { name: "in-heavy", pool: "heavy", timeoutMs: 600_000 },
      { name: "in-small", pool: "small", timeoutMs: 10_000, keyLifetimeMs: 20_001 },
    ];
    expect([...table(all, ...tools).keys()]).toEqual(["in-main", "in-heavy", "in-small"]);
    expect(() => table(all, { timeoutMs: 240_001 })).toThrow(
      'tool "work": timeoutMs (240001) must be at most limits.attemptLimitMs (240000)',
    );
    expect(() => table(all, { pool: "heavy", timeoutMs: 600_001 })).toThrow("limits.attemptLimitMs (600000)");
    expect(() => table(all, { pool: "small", timeoutMs: 10_001 })).toThrow("limits.attemptLimitMs (10000)");
    expect(() => table(all, { pool: "small", keyLifetimeMs: 20_000 })).toThrow("limits.functionTimeoutMs (20000)");
  });

  test("of a worker of one pool holds the tools against that worker's limits", () => {
    expect(table(onlyPool("heavy", heavy), { pool: "heavy", timeoutMs: 600_000 }).size).toBe(1);
    expect(() => table(onlyPool("heavy", heavy), { pool: "heavy", timeoutMs: 600_001 })).toThrow("(600000)");
    expect(table(onlyPool(undefined, main), { timeoutMs: 240_000 }).size).toBe(1);
  });

  test.each<[string, BoundsOf, string | undefined, string]>([
    ["a pool that is not there", all, "havy", 'pool must be one of "heavy", "small" or be left out, got "havy"'],
    ["one that only objects have", all, "constructor", 'got "constructor"'],
    [
      "a pool where there are none",
      poolsOf(main, new Map()),
      "heavy",
      'pool must be left out, this deployment has no pools, got "heavy"',
    ],
    [
      "a pool in the main worker",
      onlyPool(undefined, main),
      "heavy",
      'pool must be left out in the main worker, got "heavy"',
    ],
    [
      "another pool than its worker's",
      onlyPool("heavy", heavy),
      "small",
      'pool must be "heavy" in the worker of that pool, got "small"',
    ],
    [
      "no pool in a pool's worker",
      onlyPool("heavy", heavy),
      undefined,
      'pool must be "heavy" in the worker of that pool, got none',
    ],
  ])("refuses a tool that names %s", (_name, boundsOf, pool, says) => {
    const tool = pool === undefined ? {} : { pool };
    expect(() => table(boundsOf, tool)).toThrow(`tool "work": `);
    expect(() => table(boundsOf, tool)).toThrow(says);
  });

  test("in memory takes tools of any pool", () => {
    expect(table(anyPool(main), { name: "a" }, { name: "b", pool: "heavy" }).size).toBe(2);
  });

  test("refuses two of one name, though they are of two pools: a node names its tool by the name alone", () => {
    expect(() => table(all, {}, { pool: "heavy" })).toThrow('tool "work": name must be unique');
  });
});

/** Sends what stands in the outbox, and what it sets free. */
async function relayAll(world: TestWorld): Promise<void> {
  for (const entry of world.entries()) await relayEntry(world, readEntry(entry));
}
const sentTo = (world: TestWorld) => world.queue.sent.map(({ dispatch, pool }) => [dispatch.node_id, pool]);

const tools = [toolWith(), toolWith({ name: "grind", pool: "heavy" }), toolWith({ name: "render", pool: "gpu" })];
const startOf = async (nodes: readonly object[], runId = "r") => {
  const writes = await startRun({
    command: startRunSchema.parse({ type: "start_run", run_id: runId, nodes }),
    commandId: "c",
    tools: toolsOf(...tools),
    limits: testLimits(),
    nowMs: startMs,
    generation: "g",
  });
  if (!("length" in writes)) expect.fail(JSON.stringify(writes));
  return writes;
};

describe("a start", () => {
  const nodes = [
    { node_id: "a", tool: "work" },
    { node_id: "b", tool: "grind" },
    { node_id: "c", tool: "render", depends_on: ["a"] },
    { node_id: "d", tool: "work", depends_on: ["a"] },
    { node_id: "e", tool: "grind", depends_on: ["a", "b"] },
  ];

  test("writes each node's pool, and sends each root to its own", async () => {
    const world = testWorld();
    await world.table.transact(await startOf(nodes));
    const pools = await Promise.all(nodes.map(async ({ node_id }) => (await world.node(node_id)).pool));
    expect(pools).toEqual([undefined, "heavy", "gpu", undefined, "heavy"]);
    expect(world.entries()).toMatchObject([{ messages: '[["a","d-0",0],["b","d-0",0,"heavy"]]' }]);
    await relayAll(world);
    expect(sentTo(world)).toEqual([
      ["a", undefined],
      ["b", "heavy"],
    ]);
  });

  test("tells a node the pools of those that wait for it alone; a join's is read when it is free", async () => {
    const world = testWorld();
    await world.table.transact(await startOf(nodes));
    expect((await world.node("a")).dependents).toBe('[["c",1,"gpu"],["d",1],["e",0]]');
    expect((await world.node("b")).dependents).toBe('[["e",0]]');
  });

  test("without pools writes what it wrote before there were any", async () => {
    const world = testWorld();
    await world.table.transact(
      await startOf([
        { node_id: "a", tool: "work" },
        { node_id: "b", tool: "work", depends_on: ["a"] },
      ]),
    );
    for (const item of world.memory.items()) {
      expect(item).not.toHaveProperty("pool");
      if (item.kind === "outbox") expect(item.messages).toBe('[["a","d-0",0]]');
      if (item.sk === "NODE#a") expect(item.dependents).toBe('[["b",1]]');
    }
  });
});

describe("every message of a node goes to its pool", () => {
  const pooled = (part: Partial<NodeItem> = {}) => nodeWith({ pool: "heavy", ...part });

  test("of one that a commit makes READY itself", async () => {
    const { world, deliver } = setupWorker({
      items: [
        itemOf(nodeWith({ dependents: '[["b",1,"heavy"],["c",1]]' })),
        itemOf(pendingWith({ pool: "heavy" })),
        itemOf(pendingWith({ node_id: "c", ordinal: 2 })),
      ],
    });
    await deliver();
    expect((await world.node("b")).status).toBe("READY");
    expect(world.entries()).toMatchObject([{ messages: '[["b","d-0",0,"heavy"],["c","d-0",0]]' }]);
    await relayAll(world);
    expect(sentTo(world)).toEqual([
      ["b", "heavy"],
      ["c", undefined],
    ]);
  });

  test("of one that is tried again", async () => {
    const { world, deliver } = setupWorker({
      items: [itemOf(pooled())],
      execute: () => {
        throw new RetryableError("busy");
      },
    });
    await deliver();
    expect(world.entries()).toMatchObject([{ messages: `[["a","d-1",${startMs + 500},"heavy"]]` }]);
    await relayAll(world);
    expect(sentTo(world)).toEqual([["a", "heavy"]]);
  });

  test("of one that is given back, its tool not called", async () => {
    const { world, deliver } = setupWorker({ items: [itemOf(pooled())] });
    world.table.strike("RUN", "throws");
    await deliver();
    expect(world.entries()).toMatchObject([{ messages: `[["a","d-1",${startMs + 1_000},"heavy"]]` }]);
  });

  test("of a join that the relay makes READY, and again when it finds it READY", async () => {
    const world = testWorld(
      itemOf(runWith()),
      itemOf(nodeWith({ status: "RUNNING", epoch: 1, dependents: '[["b",0]]' })),
      itemOf(pendingWith({ pool: "gpu" })),
    );
    const entry = readEntry({
      ...{ pk: "RUN#r", sk: "OUTBOX#x", kind: "outbox", v: 1, run_id: "r", generation: "g", messages: "[]" },
      ...{ ordinal: 0, failed: false, advances: '["b"]', advance_run: false, created_at_ms: 1, expires_at: 1 },
    });
    await relayEntry(world, entry);
    await relayEntry(world, entry);
    expect(sentTo(world)).toEqual([
      ["b", "gpu"],
      ["b", "gpu"],
    ]);
  });

  test.each<[string, NodeItem]>([
    ["READY", pooled({ ready_at_ms: startMs - 60_000 })],
    ["READY, and due before its next look", pooled({ not_before_ms: startMs + 5_000, ready_at_ms: startMs })],
    ["RUNNING with an ended lease", runningWith({ pool: "heavy", lease_expires_at_ms: startMs - 62_000 })],
  ])("of one that the scanner finds %s", async (_name, node) => {
    const world = testWorld(itemOf(runWith()), itemOf(node));
    await world.clock.during(scanPass(world, testLimits(), () => 60_000));
    expect(sentTo(world)).toEqual([["a", "heavy"]]);
  });

  test("of a join that the scanner makes READY without a relay", async () => {
    const world = testWorld(
      itemOf(runWith({ waiting_on: new Set([1]) })),
      itemOf(nodeWith({ status: "SUCCEEDED", dependents: '[["b",0]]' })),
      itemOf(pendingWith({ pool: "heavy" })),
    );
    await world.clock.during(scanPass(world, testLimits(), () => 60_000));
    expect(sentTo(world)).toEqual([["b", "heavy"]]);
  });

  test("of one in doubt that is resolved as not done", async () => {
    const world = testWorld(itemOf(runWith()), itemOf(pooled({ status: "IN_DOUBT", epoch: 3, expires_at: undefined })));
    const command = { type: "resolve_node", run_id: "r", node_id: "a", epoch: 3, resolution: "not_done" };
    const body = JSON.stringify({ ...command, by: "ada", why: "looked" });
    const commandWorld = { ...world, limits: testLimits(), tools: toolsOf() };
    await world.clock.during(handleCommand(commandWorld, { messageId: "m", body }));
    await relayAll(world);
    expect(sentTo(world)).toEqual([["a", "heavy"]]);
  });
});

describe("what was written before there were pools", () => {
  test("is read: an entry's messages go to the main worker, and so does who a commit frees", async () => {
    const { world, deliver } = setupWorker({
      items: [itemOf(nodeWith({ dependents: '[["b",1]]' })), itemOf(pendingWith())],
    });
    await deliver();
    const [entry] = world.entries();
    expect(entry?.messages).toBe('[["b","d-0",0]]');
    await relayAll(world);
    expect(sentTo(world)).toEqual([["b", undefined]]);
  });

  test("comes back from its schema as it was, two members and not three", () => {
    expect(dependentSchema.parse(["b", 1])).toEqual(["b", 1]);
    expect(dependentSchema.parse(["b", 1])).toHaveLength(2);
    expect(dependentSchema.parse(["b", 0, "heavy"])).toEqual(["b", 0, "heavy"]);
    for (const wrong of [["b"], ["b", 2], ["b", 1, "a b"], ["b", 1, "heavy", 1]])
      expect(dependentSchema.safeParse(wrong).success).toBe(false);
  });

  test.each(['[["a","d-0",0,"a b"]]', '[["a","d-0",0,5]]', '[["a","d-0",0,"heavy",1]]'])(
    "and an entry of messages %s, which nobody writes, is not guessed at",
    (messages) => {
      const entry: Item = { kind: "outbox", v: 1, run_id: "r", generation: "g", messages, advances: "[]" };
      const times = { advance_run: false, created_at_ms: 1, expires_at: 1, pk: "RUN#r", sk: "OUTBOX#x" };
      expect(() => readEntry({ ...entry, ...times })).toThrow();
    },
  );
});

test("a worker that lacks the tool of its pool's node uses no attempt and says which pool it was; the scanner wakes it there again", async () => {
  const node = nodeWith({ tool: "moved", pool: "heavy", ready_at_ms: startMs - 60_000 });
  const { world, deliver } = setupWorker({ items: [itemOf(node)] });
  expect(await deliver()).toBe("acknowledge");
  expect(await world.node("a")).toMatchObject({ status: "READY", epoch: 0, attempts_used: 0, dispatch_id: "d-0" });
  expect(world.counts.get("UnknownTool")).toBe(1);
  expect(world.lines).toMatchObject([{ level: "error", fields: { node_id: "a", tool: "moved", pool: "heavy" } }]);
  await world.clock.during(scanPass(world, testLimits(), () => 60_000));
  expect(sentTo(world)).toEqual([["a", "heavy"]]);
});

test("a node of a pool that is gone is run by the main worker, which has its tool now", async () => {
  const { world, deliver } = setupWorker({ items: [itemOf(nodeWith({ pool: "gone" }))] });
  expect(await deliver()).toBe("acknowledge");
  expect((await world.node("a")).status).toBe("SUCCEEDED");
});
