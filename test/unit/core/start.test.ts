import { describe, expect, test } from "vitest";
import { z } from "zod";
import { nodeKey } from "../../../shared/keys.ts";
import { fixed } from "../../../shared/limits.ts";
import { nodeItemSchema, type Refusal, runItemSchema, type StartRun, startRunSchema } from "../../../shared/model.ts";
import { itemBytes } from "../../../shared/size.ts";
import { type Start, startHash, startRun } from "../../../shared/start.ts";
import type { Put } from "../../../shared/write.ts";
import { startMs, testLimits, testWorld, toolsOf, toolWith } from "../../support/world.ts";

const command = (nodes: unknown, part: Partial<StartRun> = {}): StartRun => ({
  ...startRunSchema.parse({ type: "start_run", run_id: "r", nodes }),
  ...part,
});
const strict = toolWith({ name: "strict", input: z.strictObject({ to: z.object({ amount: z.number().max(5) }) }) });
const start = (nodes: unknown, part: Partial<Start> = {}): Start => ({
  command: command(nodes),
  commandId: "cmd",
  tools: toolsOf(toolWith(), strict, toolWith({ name: "thrice", retry: { attempts: 3 } })),
  limits: testLimits(),
  nowMs: startMs,
  generation: "g",
  ...part,
});
const written = async (nodes: unknown, part: Partial<Start> = {}): Promise<readonly Put[]> => {
  const writes = await startRun(start(nodes, part));
  if (!("length" in writes)) expect.fail(JSON.stringify(writes));
  return writes;
};
const refused = async (nodes: unknown, part: Partial<Start> = {}): Promise<Refusal> => {
  const writes = await startRun(start(nodes, part));
  if ("length" in writes) expect.fail("it was started");
  return writes;
};
const many = (count: number) => Array.from({ length: count }, (_, index) => ({ node_id: `n${index}`, tool: "work" }));

describe("a start that breaks a rule names node, field, rule and value", () => {
  test("a tool that is not deployed", async () => {
    expect(
      await refused([
        { node_id: "a", tool: "work" },
        { node_id: "b", tool: "gone" },
      ]),
    ).toEqual({
      code: "unknown_tool",
      node: "b",
      field: "tool",
      rule: "must be one of work, strict, thrice",
      value: "gone",
    });
  });

  test("an input against its tool's schema, with the place in it", async () => {
    expect(await refused([{ node_id: "a", tool: "strict", input: { to: { amount: 7 } } }])).toMatchObject({
      code: "bad_input",
      node: "a",
      field: "input.to.amount",
      value: "7",
    });
    expect(await refused([{ node_id: "a", tool: "strict" }])).toMatchObject({ field: "input.to", value: "null" });
  });

  test("an input behind $literal is checked as what it stands for", async () => {
    expect(await refused([{ node_id: "a", tool: "strict", input: { to: { $literal: { amount: 7 } } } }])).toMatchObject(
      {
        code: "bad_input",
        field: "input.to.amount",
        value: "7",
      },
    );
    expect(await written([{ node_id: "a", tool: "strict", input: { to: { $literal: { amount: 5 } } } }])).toHaveLength(
      4,
    );
  });

  test("an input with references is left to the worker, which knows what they stand for", async () => {
    const nodes = [
      { node_id: "a", tool: "work" },
      { node_id: "b", tool: "strict", input: { to: { $output: "a" }, more: 1 } },
    ];
    expect(await written(nodes)).toHaveLength(5);
  });

  test("a schema that only answers later is waited for", async () => {
    const tools = toolsOf(toolWith({ name: "later", input: z.unknown().refine(async () => false, "never") }));
    expect(await refused([{ node_id: "a", tool: "later" }], { tools })).toMatchObject({
      code: "bad_input",
      rule: "never",
    });
  });

  test.each([
    ["that throws", () => Promise.reject(new Error("schema is broken"))],
    [
      "that throws at once",
      () => {
        throw new Error("schema is broken");
      },
    ],
  ])("a schema %s is left to the worker, and blocks no command (I13)", async (_name, check) => {
    const tools = toolsOf(toolWith({ name: "broken", input: z.unknown().refine(check) }));
    expect(await written([{ node_id: "a", tool: "broken" }], { tools })).toHaveLength(4);
  });

  test("an input too large for any item, by its bytes", async () => {
    const text = "é".repeat(fixed.valueBytes / 2 - 1);
    expect(await written([{ node_id: "a", tool: "work", input: text }])).toHaveLength(5);
    expect(await refused([{ node_id: "a", tool: "work", input: `${text}x` }])).toMatchObject({
      code: "input_too_large",
      node: "a",
      field: "input",
      value: `${fixed.valueBytes + 1} bytes`,
    });
  });

  test("more nodes than fit one transaction, and not one fewer", async () => {
    expect(await written(many(97))).toHaveLength(100);
    expect(await refused(many(98))).toMatchObject({
      code: "too_many_nodes",
      field: "nodes",
      value: "98 nodes, 101 items",
    });
  });

  test("inputs that need items of their own count too", async () => {
    const large = many(50).map((node) => ({ ...node, input: { text: "x".repeat(2_000) } }));
    expect(await refused(large)).toMatchObject({ code: "too_many_nodes", value: "50 nodes, 103 items" });
    expect(await written(large.slice(0, 48))).toHaveLength(99);
  });

  test("a graph that cannot run", async () => {
    expect(await refused([{ node_id: "a", tool: "work", depends_on: ["a"] }])).toMatchObject({
      code: "cycle",
      node: "a",
    });
  });
});

describe("the one transaction of a start", () => {
  const nodes = [
    { node_id: "a", tool: "work", input: { x: 1 } },
    { node_id: "b", tool: "thrice", depends_on: ["a"] },
    { node_id: "c", tool: "work", depends_on: ["a", "b"] },
    { node_id: "d", tool: "work" },
  ];

  test("holds run, answer, nodes and one entry with the roots' messages, and nothing is in the index but the run (I1)", async () => {
    const world = testWorld();
    const writes = await written(nodes);
    expect(writes.map((write) => write.name)).toEqual([
      "start_run",
      "answer_command",
      "create_node",
      "create_node",
      "create_node",
      "create_node",
      "outbox",
    ]);
    expect(await world.table.transact(writes)).toEqual({ is: "applied" });
    expect(await world.run()).toMatchObject({
      status: "RUNNING",
      generation: "g",
      node_count: 4,
      waiting_on: new Set([2, 3]),
      deadline_at_ms: startMs + 86_400_000,
      scan_at_ms: startMs + 60_000,
      scanned_at_ms: startMs,
    });
    expect(await world.node("a")).toMatchObject({
      status: "READY",
      ready_at_ms: startMs,
      not_before_ms: 0,
      epoch: 0,
      max_attempts: 5,
      input: '{"x":1}',
    });
    expect(await world.node("b")).toMatchObject({ status: "PENDING", waiting_on: new Set([0]), max_attempts: 3 });
    expect(await world.node("c")).toMatchObject({
      status: "PENDING",
      waiting_on: new Set([0, 1]),
      ordinal: 2,
      input: "{}",
    });
    expect(await world.node("a")).toMatchObject({ dependents: '[["b",1],["c",0]]' });
    expect(await world.node("c")).not.toHaveProperty("dependents");
    expect(world.entries()).toMatchObject([
      { messages: '[["a","d-0",0],["d","d-0",0]]', advances: "[]", advance_run: false },
    ]);
    for (const item of world.memory.items()) expect("scan_shard" in item).toBe(item.kind === "run");
  });

  test("gives every item a time to live that is later than the deadline and the retention", async () => {
    const short = start(nodes, { command: command(nodes, { deadline_ms: 1 }), nowMs: startMs + 999 });
    for (const write of await written(nodes, short)) {
      if (write.name === "answer_command") expect(write.item.expires_at).toBe(startMs / 1_000 + 30 * 86_400 + 1);
      if (write.name === "start_run" || write.name === "create_node") {
        expect(write.item.expires_at).toBe(startMs / 1_000 + 30 * 86_400 + 1);
        expect(write.item.deadline_at_ms).toBe(startMs + 1_000);
      }
    }
  });

  test("treats an expired run and an expired answer as absent, and living ones as taken", async () => {
    const [run, answer] = await written(nodes);
    if (run === undefined || answer === undefined) expect.fail("no writes");
    for (const write of [run, answer]) {
      const old = (expires_at: number) => testWorld({ ...write.key, ...write.item, expires_at });
      expect(await old(startMs / 1_000).table.transact(await written(nodes))).toEqual({ is: "applied" });
      expect(await old(startMs / 1_000 + 1).table.transact(await written(nodes))).toMatchObject({ is: "refused" });
    }
  });

  test("leaves what is large beside its node, under the same generation", async () => {
    const world = testWorld();
    const wide = [
      { node_id: "a", tool: "work", input: "x".repeat(900) },
      ...many(60).map((node) => ({ ...node, depends_on: ["a"] })),
    ];
    await world.table.transact(await written(wide));
    expect(await world.node("a")).toMatchObject({ input_beside: true, dependents_beside: true });
    expect(await world.memory.get({ pk: "RUN#r", sk: "INPUT#a" })).toMatchObject({
      kind: "beside",
      generation: "g",
      value: JSON.stringify("x".repeat(900)),
    });
    expect(itemBytes((await world.memory.get(nodeKey("r", "a"))) ?? {})).toBeLessThan(1_024);
  });

  test("reads back through the schemas of what is stored", async () => {
    for (const write of await written(nodes)) {
      const item = { ...write.key, ...write.item };
      if (write.name === "start_run") expect(runItemSchema.parse(item)).toEqual(item);
      if (write.name === "create_node") expect(nodeItemSchema.parse(item)).toMatchObject(item);
    }
  });
});

describe("what makes two starts the same", () => {
  const base = command([
    { node_id: "a", tool: "work", input: { x: 1, y: [2] } },
    { node_id: "b", tool: "work", depends_on: ["a"] },
  ]);
  test("is not the command that carried it, nor the order of members, nor a default left out", async () => {
    expect(startHash({ ...base, command_id: "other" })).toBe(startHash(base));
    const written =
      '{"nodes":[{"tool":"work","input":{"y":[2.0],"x":1},"node_id":"a"},{"depends_on":["a"],"node_id":"b","tool":"work","input":{}}],"run_id":"r","type":"start_run"}';
    expect(startHash(startRunSchema.parse(JSON.parse(written)))).toBe(startHash(base));
  });

  test.each<[string, StartRun]>([
    ["another run id", { ...base, run_id: "s" }],
    ["a deadline", { ...base, deadline_ms: 5 }],
    ["the order of nodes", { ...base, nodes: base.nodes.toReversed() }],
    ["an input", { ...base, nodes: base.nodes.map((node) => ({ ...node, input: {} })) }],
    ["an edge", { ...base, nodes: base.nodes.map((node) => ({ ...node, depends_on: [] })) }],
  ])("is broken by %s", (_name, other) => {
    expect(startHash(other)).not.toBe(startHash(base));
  });
});
