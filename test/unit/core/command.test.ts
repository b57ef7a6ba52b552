import { describe, expect, test } from "vitest";
import { type CommandWorld, handleCommand, readAnswer } from "../../../shared/command.ts";
import { nodeKey, runKey } from "../../../shared/keys.ts";
import type { CommandItem, Refusal } from "../../../shared/model.ts";
import type { Item, Key } from "../../../shared/write.ts";
import {
  itemOf,
  runWith,
  startMs,
  type TestWorld,
  testLimits,
  testWorld,
  toolsOf,
  toolWith,
} from "../../support/world.ts";

type Setup = {
  readonly world: TestWorld & CommandWorld;
  readonly send: (body: unknown, messageId?: string) => Promise<void>;
  readonly answer: (id: string) => Promise<CommandItem | undefined>;
  readonly reasons: () => Refusal[];
};

function setup(...items: readonly (Item & Key)[]): Setup {
  const world = Object.assign(testWorld(...items), { limits: testLimits(), tools: toolsOf(toolWith()) });
  return {
    world,
    send: (body, messageId = "msg") =>
      world.clock.during(
        handleCommand(world, { messageId, body: typeof body === "string" ? body : JSON.stringify(body) }),
      ),
    answer: (id) => readAnswer(world.memory, id),
    reasons: () => world.queue.rejected.map(({ reason }) => JSON.parse(reason) as Refusal),
  };
}

const startOf = (part: object = {}) => ({
  type: "start_run",
  command_id: "cmd",
  run_id: "r",
  nodes: [{ node_id: "a", tool: "work" }],
  ...part,
});
const cancelOf = (part: object = {}) => ({ type: "cancel_run", command_id: "cancel", run_id: "r", ...part });
const kept = (world: TestWorld) => world.queue.rejected.length;

describe("a start", () => {
  test("makes the run and answers in one transaction", async () => {
    const { world, send, answer } = setup();
    await send(startOf());
    expect(world.table.sent).toEqual(["start_run+answer_command+create_node+outbox"]);
    expect(await answer("cmd")).toMatchObject({
      type: "start_run",
      outcome: "accepted",
      run_id: "r",
      run_status: "RUNNING",
      changed: true,
    });
    expect(await world.run()).toMatchObject({ status: "RUNNING" });
    expect(kept(world)).toBe(0);
  });

  test("is answered under its message's id where it names none", async () => {
    const { send, answer } = setup();
    await send({ ...startOf(), command_id: undefined }, "message-7");
    expect(await answer("message-7")).toMatchObject({ outcome: "accepted" });
  });

  test("that is delivered again changes nothing and refuses nothing", async () => {
    const { world, send, answer } = setup();
    await send(startOf());
    const before = JSON.stringify([...world.memory.items()]);
    await send(startOf());
    expect(JSON.stringify([...world.memory.items()])).toBe(before);
    expect(await answer("cmd")).toMatchObject({ changed: true });
    expect(kept(world)).toBe(0);
  });

  test("of the same run and content under another command is the same run, and says that it changed nothing", async () => {
    const { world, send, answer } = setup();
    await send(startOf());
    await send(startOf({ command_id: "second", nodes: [{ tool: "work", node_id: "a", input: {}, depends_on: [] }] }));
    expect(await answer("second")).toMatchObject({
      outcome: "accepted",
      run_id: "r",
      run_status: "RUNNING",
      changed: false,
    });
    expect(kept(world)).toBe(0);
    expect(world.entries()).toHaveLength(1);
  });

  test("of the same run with other content is refused, kept and answered, and the first run stays", async () => {
    const { send, answer, reasons, world } = setup();
    await send(startOf());
    await send(startOf({ command_id: "second", nodes: [{ node_id: "b", tool: "work" }] }));
    expect(reasons()).toMatchObject([{ code: "run_id_taken", field: "run_id", value: "r" }]);
    expect(await answer("second")).toMatchObject({
      outcome: "refused",
      refusal: expect.stringContaining("run_id_taken"),
    });
    expect(await world.memory.get(nodeKey("r", "b"))).toBeUndefined();
  });

  test("under an id that answers another command makes no run, and is kept with that reason", async () => {
    const { send, answer, reasons, world } = setup();
    await send(startOf());
    await send(startOf({ run_id: "other" }));
    expect(reasons()).toMatchObject([{ code: "command_id_taken", value: "cmd" }]);
    expect(await answer("cmd")).toMatchObject({ run_id: "r", outcome: "accepted" });
    expect(await world.memory.get(runKey("other"))).toBeUndefined();
  });

  test.each([1, 3])("whose transaction's answer was lost %i times is known by its own mark (I10)", async (times) => {
    const { world, send, answer } = setup();
    world.table.strike("start_run", ...Array.from({ length: times }, () => "lost" as const));
    await send(startOf());
    expect(await answer("cmd")).toMatchObject({ outcome: "accepted", changed: true });
    expect(world.counts.get("RunStarted")).toBe(1);
    expect(kept(world)).toBe(0);
  });

  test("that meets a busy table is made when the table answers, once", async () => {
    const { world, send } = setup();
    world.table.strike("start_run", "busy", "busy");
    await send(startOf());
    expect(world.entries()).toHaveLength(1);
  });

  test("that meets a table busy for too long comes again", async () => {
    const { world, send } = setup();
    world.table.strike("start_run", ...Array.from({ length: 200 }, () => "busy" as const));
    await expect(send(startOf())).rejects.toThrow("no answer within");
  });

  test("of two at the same instant makes one run, and both are accepted", async () => {
    const { world, answer, send } = setup();
    await Promise.all([send(startOf()), send(startOf({ command_id: "second" }), "msg-2")]);
    const changed = [(await answer("cmd"))?.changed, (await answer("second"))?.changed];
    expect(changed.sort()).toEqual([false, true]);
    expect(world.entries()).toHaveLength(1);
  });

  test("takes an expired run's place, whose nodes then are no longer of the run", async () => {
    const { world, send } = setup(itemOf(runWith({ expires_at: startMs / 1_000, generation: "old" })));
    await send(startOf());
    expect((await world.run()).generation).not.toBe("old");
  });

  test("keeps an input's member named __proto__, since nothing is emptied in silence", async () => {
    const { world, send } = setup();
    await send(
      '{"type":"start_run","run_id":"r","nodes":[{"node_id":"a","tool":"work","input":{"__proto__":{"x":1},"y":{"__proto__":2}}}]}',
    );
    expect((await world.node("a")).input).toBe('{"__proto__":{"x":1},"y":{"__proto__":2}}');
  });
});

describe("what is no command is refused with a reason, kept as it came, and answered (I13)", () => {
  test.each<[string, string, Partial<Refusal>]>([
    ["no JSON", "{not json", { code: "not_json", field: "body", value: "{not json" }],
    ["an empty body", "", { code: "not_json" }],
    ["null", "null", { code: "bad_field", field: "body", value: "null" }],
    ["a list", "[]", { code: "bad_field" }],
    ["an unknown type", '{"type":"stop"}', { code: "bad_field", field: "type", value: '"stop"' }],
    ["a missing field", '{"type":"cancel_run"}', { code: "bad_field", field: "run_id", value: "nothing" }],
    [
      "an extra field",
      '{"type":"cancel_run","run_id":"r","now":1}',
      { code: "bad_field", field: "now", rule: "must not be there: no such field is known", value: "1" },
    ],
    [
      "an unknown field of a node",
      '{"type":"start_run","run_id":"r","nodes":[{"node_id":"a","tool":"noop","dependsOn":[]}]}',
      {
        code: "bad_field",
        node: "a",
        field: "nodes.0.dependsOn",
        rule: expect.stringContaining("no such"),
        value: "[]",
      },
    ],
    ["no nodes", '{"type":"start_run","run_id":"r","nodes":[]}', { code: "bad_field", field: "nodes" }],
    [
      "an empty id",
      '{"type":"cancel_run","run_id":""}',
      { code: "bad_field", field: "run_id", rule: "must not be empty" },
    ],
    [
      "an id with a control character",
      '{"type":"cancel_run","run_id":"a\\u0007"}',
      { code: "bad_field", field: "run_id" },
    ],
    ["an id with a noncharacter", '{"type":"cancel_run","run_id":"a\\uffff"}', { code: "bad_field", field: "run_id" }],
    [
      "half of a surrogate pair",
      '{"type":"cancel_run","run_id":"a\\ud800"}',
      { code: "bad_value", field: "/run_id", rule: "must not hold a lone surrogate" },
    ],
    [
      "an id of 257 bytes",
      JSON.stringify(cancelOf({ run_id: `${"é".repeat(128)}x` })),
      { code: "bad_field", rule: "must be at most 256 bytes of UTF-8 (it has 257)" },
    ],
    [
      "a number too large",
      '{"type":"start_run","run_id":"r","nodes":[{"node_id":"a","tool":"work","input":{"x":1e999}}]}',
      { code: "bad_value", field: "/nodes/0/input/x", rule: "must not hold a Infinity" },
    ],
    [
      "a deadline of nothing",
      JSON.stringify(startOf({ deadline_ms: 0 })),
      { code: "bad_field", field: "deadline_ms", value: "0" },
    ],
    [
      "a deadline beyond a year",
      JSON.stringify(startOf({ deadline_ms: 365 * 86_400_000 + 1 })),
      { code: "bad_field", field: "deadline_ms" },
    ],
    [
      "a bad tool name, with its node",
      JSON.stringify(
        startOf({
          nodes: [
            { node_id: "a", tool: "work" },
            { node_id: "b", tool: "no tool" },
          ],
        }),
      ),
      { code: "bad_field", node: "b", field: "nodes.1.tool", value: '"no tool"' },
    ],
    [
      "a start that breaks a rule",
      JSON.stringify(startOf({ nodes: [{ node_id: "a", tool: "work", depends_on: ["x"] }] })),
      { code: "unknown_dependency", node: "a", value: "x" },
    ],
  ])("%s", async (_name, body, refusal) => {
    const { world, send, answer, reasons } = setup();
    await send(body);
    expect(world.queue.rejected).toMatchObject([{ body, source: "commands" }]);
    expect(reasons()).toMatchObject([refusal]);
    const id = body.includes('"command_id":"cmd"') ? "cmd" : body.includes('"command_id":"cancel"') ? "cancel" : "msg";
    const given = await answer(id);
    expect(given).toMatchObject({ outcome: "refused" });
    expect(JSON.parse(given?.refusal ?? "")).toEqual(reasons()[0]);
    expect(world.counts.get("CommandRefused")).toBe(1);
  });

  test("a command id that is none is not used for the answer", async () => {
    const { send, answer } = setup();
    await send(cancelOf({ command_id: "a\u0007" }));
    expect(await answer("msg")).toMatchObject({ outcome: "refused" });
  });

  test.each([
    ["value", cancelOf({ run_id: "x".repeat(300_000) })],
    ["name", { ...cancelOf(), ["n".repeat(300_000)]: "\ud800" }],
    ["name of a field that is unknown", { ...cancelOf(), ["n".repeat(300_000)]: 1 }],
  ])("a huge %s is shown in part, so that the answer can always be stored", async (_name, body) => {
    const { send, answer, reasons } = setup();
    await send({ ...body, ...("nodes" in body ? {} : { more: "y".repeat(300_000) }) });
    expect(JSON.stringify(reasons()[0]).length).toBeLessThan(2_000);
    expect(await answer("cancel")).toMatchObject({ outcome: "refused" });
  });

  test("delivered again is kept again and answered once", async () => {
    const { world, send, answer } = setup();
    await send("{");
    await send("{");
    expect(kept(world)).toBe(2);
    expect(await answer("msg")).toMatchObject({ outcome: "refused" });
    expect(world.counts.get("CommandIdTaken")).toBeUndefined();
  });

  test("that cannot be kept now comes again, and is not answered before", async () => {
    const { world, send, answer } = setup();
    world.queue.isDown = true;
    await expect(send("{")).rejects.toThrow("queue is down");
    expect(await answer("msg")).toBeUndefined();
  });

  test("whose id answers an accepted command is kept once, and leaves that answer alone", async () => {
    const { world, send, answer } = setup();
    await send(startOf());
    await send(startOf({ nodes: [] }));
    expect(kept(world)).toBe(1);
    expect(await answer("cmd")).toMatchObject({ outcome: "accepted" });
    expect(world.counts.get("CommandIdTaken")).toBe(1);
  });
});

describe("a cancel", () => {
  test("of a running run marks it, has the scanner look at once, and says that it changed it", async () => {
    const { world, send, answer } = setup(itemOf(runWith({ scan_at_ms: startMs + 3_600_000 })));
    await send(cancelOf({ reason: "enough" }));
    expect(await world.run()).toMatchObject({
      status: "CANCELLING",
      cancel_command_id: "cancel",
      cancel_reason: "enough",
      scan_at_ms: startMs,
    });
    expect(await answer("cancel")).toMatchObject({
      outcome: "accepted",
      run_id: "r",
      run_status: "CANCELLING",
      changed: true,
    });
  });

  test("delivered again, or with its answer lost, finds its own mark (I10)", async () => {
    const { world, send, answer } = setup(itemOf(runWith()));
    world.table.strike("request_cancel", "lost");
    await send(cancelOf());
    await send(cancelOf());
    expect(await answer("cancel")).toMatchObject({ changed: true });
    expect(kept(world)).toBe(0);
  });

  test("of a run that another has cancelled is accepted and changed nothing", async () => {
    const { send, answer, world } = setup(itemOf(runWith()));
    await send(cancelOf({ reason: "first" }));
    await send(cancelOf({ command_id: "again", reason: "second" }));
    expect(await answer("again")).toMatchObject({ outcome: "accepted", run_status: "CANCELLING", changed: false });
    expect(await world.run()).toMatchObject({ cancel_reason: "first", cancel_command_id: "cancel" });
  });

  test.each(["SUCCEEDED", "FAILED", "CANCELLED", "EXPIRED"] as const)(
    "of a run that is %s changes nothing, and says how it ended (I9)",
    async (status) => {
      const { send, answer, world } = setup(itemOf(runWith({ status })));
      await send(cancelOf());
      expect(await answer("cancel")).toMatchObject({ outcome: "accepted", run_status: status, changed: false });
      expect((await world.run()).status).toBe(status);
    },
  );

  test("of a run that is not there, or is there no more, is refused", async () => {
    const unknown = setup();
    await unknown.send(cancelOf());
    expect(unknown.reasons()).toMatchObject([{ code: "no_such_run", field: "run_id", value: "r" }]);
    expect([...unknown.world.memory.items()].filter((item) => item.kind === "run")).toEqual([]);
    const expired = setup(itemOf(runWith({ status: "SUCCEEDED", expires_at: startMs / 1_000 })));
    await expired.send(cancelOf());
    expect(expired.reasons()).toMatchObject([{ code: "no_such_run" }]);
  });

  test("under an id that answers a start is kept with that reason", async () => {
    const { send, reasons, answer } = setup();
    await send(startOf());
    await send(cancelOf({ command_id: "cmd" }));
    expect(reasons()).toMatchObject([{ code: "command_id_taken" }]);
    expect(await answer("cmd")).toMatchObject({ type: "start_run" });
  });
});
