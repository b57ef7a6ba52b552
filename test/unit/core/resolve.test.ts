/** A person or a program says what became of a node in doubt. */
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { outputTextOf } from "../../../shared/beside.ts";
import { type CommandWorld, handleCommand, readAnswer } from "../../../shared/command.ts";
import { nodeKey } from "../../../shared/keys.ts";
import type { NodeItem, Refusal, RunItem } from "../../../shared/model.ts";
import { resolveHash } from "../../../shared/resolve.ts";
import { scanPass } from "../../../shared/scan.ts";
import type { AnyTool } from "../../../shared/tool.ts";
import type { Item } from "../../../shared/write.ts";
import {
  itemOf,
  nodeWith,
  pendingWith,
  runWith,
  startMs,
  testLimits,
  testWorld,
  toolsOf,
  toolWith,
} from "../../support/world.ts";

const inDoubt = (part: Partial<NodeItem> = {}): NodeItem =>
  nodeWith({
    status: "IN_DOUBT",
    epoch: 3,
    attempts_used: 2,
    certain_through_epoch: 1,
    open_since_ms: startMs - 9_000,
    reconciles_used: 4,
    claim_id: "c-old",
    doubt: JSON.stringify({ atMs: startMs - 5_000, why: "who knows", attempt: 2, reconciles: 4 }),
    error: '{"name":"E","message":"old"}',
    not_before_ms: undefined,
    ready_at_ms: undefined,
    expires_at: undefined,
    ...part,
  });

const output = z.object({ code: z.string().min(3) });

function setup(
  part: {
    readonly node?: NodeItem;
    readonly run?: Partial<RunItem>;
    readonly tool?: AnyTool;
    readonly more?: NodeItem[];
  } = {},
) {
  const { node = inDoubt(), run = {}, tool = toolWith({ effect: "at_most_once", output }), more = [] } = part;
  const items = [node, runWith({ expires_at: undefined, ...run }), ...more].map(itemOf);
  const world: ReturnType<typeof testWorld> & CommandWorld = Object.assign(testWorld(...items), {
    limits: testLimits(),
    tools: toolsOf(tool),
  });
  return {
    world,
    send: (command: object) =>
      world.clock.during(handleCommand(world, { messageId: "msg", body: JSON.stringify(command) })),
    answer: (id = "cmd") => readAnswer(world.memory, id),
    reasons: () => world.queue.rejected.map(({ reason }) => JSON.parse(reason) as Refusal),
  };
}

const base = { type: "resolve_node", command_id: "cmd", run_id: "r", node_id: "a", epoch: 3, by: "ada", why: "looked" };
const succeeded = (part: object = {}) => ({ ...base, resolution: "succeeded", output: { code: "V-1" }, ...part });
const notDone = (part: object = {}) => ({ ...base, resolution: "not_done", ...part });
const failed = (part: object = {}) => ({ ...base, resolution: "failed", ...part });
const every = [succeeded(), notDone(), failed()];
const laterTtl = (startMs + 3_600_000 + testLimits().retentionMs) / 1_000;

describe("succeeded", () => {
  test("ends the node with the output, its effect done and all certain, and says by whom and why", async () => {
    const { world, send, answer } = setup();
    await send(succeeded());
    const node = await world.node("a");
    expect(node).toMatchObject({
      status: "SUCCEEDED",
      effect: "done",
      output: '{"code":"V-1"}',
      epoch: 3,
      certain_through_epoch: 3,
      ended_at_ms: startMs,
      resolved_by: "cmd",
      expires_at: laterTtl,
    });
    expect(JSON.parse(node.resolution ?? "")).toEqual({
      resolution: "succeeded",
      by: "ada",
      why: "looked",
      atMs: startMs,
    });
    for (const gone of ["doubt", "open_since_ms", "reconciles_used", "error"]) expect(node).not.toHaveProperty(gone);
    expect(await answer()).toMatchObject({
      type: "resolve_node",
      outcome: "accepted",
      run_id: "r",
      node_status: "SUCCEEDED",
      changed: true,
    });
    expect(world.counts.get("NodeResolved")).toBe(1);
  });

  test("frees what waits for it, by the entry of the same transaction (I1)", async () => {
    const { world, send } = setup({
      node: inDoubt({ dependents: '[["b",1]]' }),
      run: { waiting_on: new Set([1]) },
      more: [pendingWith()],
    });
    await send(succeeded());
    expect(world.table.sent[0]).toBe("end_succeeded+outbox+wake_run");
    expect(world.entries()).toMatchObject([{ ordinal: 0, failed: false, advances: '["b"]' }]);
  });

  test("of the run's last node has the entry end the run", async () => {
    const { world, send } = setup();
    await send(succeeded());
    expect(world.entries()).toMatchObject([{ ordinal: 0, advance_run: true }]);
  });

  test("with an output that is as the schema makes it, and that the tool never touched", async () => {
    const tool = toolWith({ effect: "at_most_once", output: z.object({ n: z.coerce.number() }) });
    const { world, send } = setup({ tool });
    await send(succeeded({ output: { n: "7", other: 1 } }));
    expect((await world.node("a")).output).toBe('{"n":7}');
  });

  test("with a large output has it stand beside the node, with a time to live", async () => {
    const { world, send } = setup();
    await send(succeeded({ output: { code: "x".repeat(3_000) } }));
    const node = await world.node("a");
    expect(node).toMatchObject({ status: "SUCCEEDED", output_epoch: 3 });
    expect(await outputTextOf(world, node)).toHaveLength(3_011);
  });

  test.each<[string, unknown, string]>([
    ["of another kind", "V-1", "output: "],
    ["with a field missing", {}, "output.code: "],
    ["with a field too short", { code: "V" }, "output.code: "],
    ["that is null", null, "output: "],
  ])(
    "with an output %s is refused with field, rule and value, and the node stays in doubt",
    async (_name, bad, rule) => {
      const { world, send, answer, reasons } = setup();
      await send(succeeded({ output: bad }));
      expect(reasons()).toEqual([
        {
          code: "bad_output",
          node: "a",
          field: "output",
          rule: expect.stringContaining(rule),
          value: JSON.stringify(bad),
        },
      ]);
      expect(await answer()).toMatchObject({ outcome: "refused" });
      expect(await world.node("a")).toEqual(JSON.parse(JSON.stringify(inDoubt())));
      expect(world.entries()).toEqual([]);
    },
  );

  test("of a tool that is not deployed is refused, since nobody could check it; the others are not", async () => {
    const tool = toolWith({ name: "other" });
    const gone = setup({ tool });
    await gone.send(succeeded());
    expect(gone.reasons()).toMatchObject([{ code: "unknown_tool", node: "a", field: "output", value: "work" }]);
    for (const [command, status] of [
      [notDone(), "READY"],
      [failed(), "FAILED"],
    ] as const) {
      const { world, send } = setup({ tool });
      await send(command);
      expect((await world.node("a")).status).toBe(status);
    }
  });
});

describe("not_done", () => {
  test("runs the node again: next epoch, all certain, fresh budget, and its message in the same transaction", async () => {
    const { world, send, answer } = setup({ node: inDoubt({ attempts_used: 5 }) });
    await send(notDone());
    const node = await world.node("a");
    expect(node).toMatchObject({
      status: "READY",
      epoch: 4,
      certain_through_epoch: 4,
      attempts_used: 0,
      dispatch_id: "d-4",
      not_before_ms: 0,
      ready_at_ms: startMs,
      resolved_by: "cmd",
      expires_at: laterTtl,
    });
    for (const gone of ["doubt", "open_since_ms", "reconciles_used", "effect"]) expect(node).not.toHaveProperty(gone);
    expect(world.table.sent[0]).toBe("resolve_not_done+outbox+wake_run");
    expect(world.entries()).toMatchObject([{ messages: '[["a","d-4",0]]', advances: "[]", advance_run: false }]);
    expect(await answer()).toMatchObject({ node_status: "READY", changed: true });
  });
});

describe("failed", () => {
  test.each([
    [{}, "unknown"],
    [{ effect: "unknown" }, "unknown"],
    [{ effect: "none" }, "none"],
    [{ effect: "done" }, "done"],
  ])("%j ends the node FAILED and says what is known of the effect (I14)", async (part, effect) => {
    const { world, send, answer } = setup();
    await send(failed(part));
    const node = await world.node("a");
    expect(node).toMatchObject({ status: "FAILED", effect, certain_through_epoch: 3 });
    expect(JSON.parse(node.error ?? "")).toEqual({
      name: "ResolvedAsFailed",
      code: "resolved",
      message: "ada: looked",
    });
    expect(world.entries()).toMatchObject([{ failed: true, advance_run: true }]);
    expect(await answer()).toMatchObject({ node_status: "FAILED" });
  });
});

describe("a run that is over but for its doubt", () => {
  test.each<[string, Partial<RunItem>]>([
    ["past its deadline", { deadline_at_ms: startMs - 1 }],
    ["being cancelled", { status: "CANCELLING" }],
  ])("takes every resolution while it is %s", async (_name, run) => {
    for (const [command, status] of [
      [succeeded(), "SUCCEEDED"],
      [notDone(), "READY"],
      [failed(), "FAILED"],
    ] as const) {
      const { world, send } = setup({ run, node: inDoubt({ deadline_at_ms: startMs - 1 }) });
      await send(command);
      expect((await world.node("a")).status).toBe(status);
    }
  });
});

describe("a quiet run", () => {
  test.each(every)(
    "is looked at by the scanner at once, since the relay may lose the entry (I8): %#",
    async (command) => {
      const { world, send } = setup({ run: { scan_at_ms: startMs + 3_600_000 } });
      await send(command);
      expect((await world.run()).scan_at_ms).toBe(startMs);
    },
  );

  test.each(every)("that is gone, or another's by now, keeps nobody from resolving its node: %#", async (command) => {
    for (const run of [{ generation: "h" }, { status: "FAILED", scan_shard: undefined }] as const) {
      const { world, send, answer } = setup({ run });
      const before = await world.run();
      await send(command);
      expect(await answer()).toMatchObject({ outcome: "accepted" });
      expect(await world.run()).toEqual(before);
    }
  });
});

test("a doubt holds its dependents and its run through deadline and cancel, until it is resolved; the scanner alone brings all to its end", async () => {
  const { world, send } = setup({
    node: inDoubt({ dependents: '[["b",1]]' }),
    run: { status: "CANCELLING", waiting_on: new Set([1]), deadline_at_ms: startMs - 1 },
    more: [pendingWith({ deadline_at_ms: startMs - 1 })],
  });
  const scan = () => world.clock.during(scanPass(world, testLimits(), () => 60_000));
  expect(await scan()).toEqual({ runs: 1, messages: 0, failures: 0 });
  expect([(await world.node("a")).status, (await world.node("b")).status]).toEqual(["IN_DOUBT", "PENDING"]);
  expect(await world.run()).toMatchObject({ status: "CANCELLING", scan_at_ms: startMs + testLimits().scanIdleMs });

  await send(failed());
  for (let pass = 0; pass < 3; pass++) {
    await scan();
    world.clock.stall(60_000);
  }
  expect([(await world.node("a")).status, (await world.node("b")).status]).toEqual(["FAILED", "SKIPPED"]);
  const run = await world.run();
  expect(run.status).toBe("CANCELLED");
  expect(run.expires_at).toBeGreaterThan(startMs / 1_000);
});

test("what waits for a doubt does not expire before it is resolved, and everything then goes on", async () => {
  const soon = startMs / 1_000 + 60;
  const { world, send } = setup({
    node: inDoubt({ dependents: '[["b",1]]' }),
    run: { waiting_on: new Set([1]) },
    more: [pendingWith({ node_id: "b", ordinal: 1, waiting_on: new Set([0]), expires_at: soon })],
  });
  await world.clock.during(scanPass(world, testLimits(), () => 60_000));
  const kept = (await world.node("b")).expires_at;
  expect(kept).toBe(startMs / 1_000 + testLimits().retentionMs / 1_000);
  await send(succeeded());
  world.clock.stall(3_600_000);
  await world.clock.during(scanPass(world, testLimits(), () => 60_000));
  expect((await world.node("b")).status).toBe("READY");
});

test("a run without a doubt keeps the time to live that it was given", async () => {
  const soon = startMs / 1_000 + 60;
  const { world } = setup({ node: nodeWith({ expires_at: soon }), run: { expires_at: soon } });
  await world.clock.during(scanPass(world, testLimits(), () => 60_000));
  expect((await world.node("a")).expires_at).toBe(soon);
});

describe("the same command again", () => {
  test.each(every)("changes nothing and is answered as before: %#", async (command) => {
    const { world, send, answer } = setup();
    await send(command);
    const before = JSON.stringify([...world.memory.items()]);
    await send(command);
    await send(command);
    expect(JSON.stringify([...world.memory.items()])).toBe(before);
    expect(await answer()).toMatchObject({ outcome: "accepted", changed: true });
    expect(world.queue.rejected).toEqual([]);
  });

  test.each(every)("whose transaction's reply was lost knows its own mark (I10): %#", async (command) => {
    const { world, send, answer } = setup();
    const name = { succeeded: "end_succeeded", not_done: "resolve_not_done", failed: "end_failed" }[
      String(command.resolution)
    ];
    world.table.strike(name ?? "", "lost");
    await send(command);
    expect(await answer()).toMatchObject({ outcome: "accepted", changed: true });
    expect(world.entries()).toHaveLength(1);
    expect(world.queue.rejected).toEqual([]);
  });

  test("whose answer was never written is answered by the next delivery, whatever the node has become", async () => {
    const { world, send, answer } = setup();
    world.table.strike("answer_command", ...Array.from({ length: 300 }, () => "busy" as const));
    await expect(send(notDone())).rejects.toThrow("no answer within");
    await world.memory.write({
      op: "update",
      name: "x",
      key: nodeKey("r", "a"),
      set: { status: "RUNNING", epoch: 5 },
      conditions: [],
    });
    const fresh = setup({ node: await world.node("a") });
    await fresh.send(notDone());
    expect(await fresh.answer()).toMatchObject({ outcome: "accepted", node_status: "RUNNING", changed: true });
    expect(fresh.reasons()).toEqual([]);
    expect(await answer()).toBeUndefined();
  });

  test("that meets a busy table is carried out when the table answers, once", async () => {
    const { world, send } = setup();
    world.table.strike("resolve_not_done", "busy", "busy");
    await send(notDone());
    expect((await world.node("a")).epoch).toBe(4);
    expect(world.entries()).toHaveLength(1);
  });
});

describe("a resolution of what is not in doubt at that epoch is refused, and changes nothing", () => {
  const states: readonly [string, Partial<NodeItem>, string][] = [
    ["an earlier doubt", { epoch: 4 }, "epoch 3, and the node is IN_DOUBT at epoch 4"],
    ["a later doubt", { epoch: 2 }, "epoch 3, and the node is IN_DOUBT at epoch 2"],
    ["a node that runs", { status: "RUNNING" }, "epoch 3, and the node is RUNNING at epoch 3"],
    ["a node that is to run", { status: "READY" }, "epoch 3, and the node is READY at epoch 3"],
    ["a node that has ended (I9)", { status: "FAILED" }, "epoch 3, and the node is FAILED at epoch 3"],
  ];
  test.each(states)("%s", async (_name, part, value) => {
    for (const command of every) {
      const node = inDoubt(part);
      const { world, send, answer, reasons } = setup({ node });
      await send(command);
      expect(reasons()).toMatchObject([{ code: "not_in_doubt", node: "a", field: "epoch", value }]);
      expect(await answer()).toMatchObject({ outcome: "refused" });
      expect(await world.node("a")).toEqual(JSON.parse(JSON.stringify(node)));
    }
  });

  test("a second one by another command, which comes too late", async () => {
    const { world, send, answer, reasons } = setup();
    await send(succeeded());
    await send(notDone({ command_id: "second" }));
    expect(reasons()).toMatchObject([{ code: "not_in_doubt" }]);
    expect(await answer("second")).toMatchObject({ outcome: "refused" });
    expect((await world.node("a")).status).toBe("SUCCEEDED");
  });

  test("one that another was faster than, between its look and its write", async () => {
    const { world, send, reasons } = setup();
    world.table.strike("end_succeeded", () =>
      world.memory.write({
        op: "update",
        name: "x",
        key: nodeKey("r", "a"),
        set: { status: "READY", epoch: 4, resolved_by: "faster" },
        conditions: [],
      }),
    );
    await send(succeeded());
    expect(reasons()).toMatchObject([{ code: "not_in_doubt", value: "epoch 3, and the node is READY at epoch 4" }]);
    expect(world.entries()).toEqual([]);
  });

  test("of two at the same instant one is carried out and the other refused", async () => {
    const { world, send, answer } = setup();
    await Promise.all([send(succeeded()), send(failed({ command_id: "second" }))]);
    const outcomes = [(await answer())?.outcome, (await answer("second"))?.outcome];
    expect(outcomes.sort()).toEqual(["accepted", "refused"]);
    expect(world.entries()).toHaveLength(1);
  });

  test("a node that is not there", async () => {
    for (const part of [{ node_id: "x" }, { run_id: "x" }]) {
      const { send, reasons } = setup();
      await send(notDone(part));
      expect(reasons()).toMatchObject([{ code: "no_such_node", field: "node_id", value: part.node_id ?? "a" }]);
    }
  });
});

describe("what is no resolution is refused with field and rule (I13)", () => {
  test.each<[string, Item, string]>([
    ["nobody's", { by: "" }, "by"],
    ["without grounds", { why: "" }, "why"],
    ["by a name too long", { by: "x".repeat(257) }, "by"],
    ["with grounds too long", { why: "x".repeat(1_025) }, "why"],
    ["of an epoch below none", { epoch: -1 }, "epoch"],
    ["of an epoch in words", { epoch: "3" }, "epoch"],
    ["with an output that was not asked for", { output: 1 }, "output"],
    ["with an effect that was not asked for", { effect: "none" }, "effect"],
    ["that says something else", { resolution: "maybe" }, "resolution"],
  ])("%s", async (_name, part, field) => {
    const { world, send, reasons } = setup();
    await send(notDone(part));
    expect(reasons()).toMatchObject([{ code: "bad_field", field }]);
    expect((await world.node("a")).status).toBe("IN_DOUBT");
  });

  test("a success without an output", async () => {
    const { send, reasons } = setup();
    await send({ ...base, resolution: "succeeded" });
    expect(reasons()).toMatchObject([{ code: "bad_field", field: "output" }]);
  });
});

test("a resolution's hash is the same for the same content under any id, and differs with anything that is said", () => {
  const of = (part: object) => resolveHash({ ...notDone(), ...part } as Parameters<typeof resolveHash>[0]);
  expect(of({ command_id: "other" })).toBe(of({}));
  const others = [{ epoch: 4 }, { node_id: "b" }, { run_id: "s" }, { by: "bob" }, { why: "so" }];
  expect(new Set([of({}), ...others.map(of)]).size).toBe(6);
});
