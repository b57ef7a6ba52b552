/** NodeState stays in one write unit whatever its input, output, error and fan-out: design section 4. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { errorTextOf, outputTextOf } from "../../../shared/beside.ts";
import { describeError } from "../../../shared/errors.ts";
import { fixed } from "../../../shared/limits.ts";
import { startRunSchema } from "../../../shared/model.ts";
import { recordResult } from "../../../shared/record.ts";
import { itemBytes } from "../../../shared/size.ts";
import { startRun } from "../../../shared/start.ts";
import { claim, dispatchIdAt, endNode, ownedAt, requeue } from "../../../shared/transitions.ts";
import { nodeWith, runningWith, startMs, testLimits, testWorld, toolsOf, toolWith } from "../../support/world.ts";

describe("a result", () => {
  test("stands in its node while it is small, and beside it under its epoch when it is not", async () => {
    const node = runningWith({ epoch: 3 });
    expect(recordResult(node, '"small"', undefined)).toEqual({
      record: { set: { output: '"small"' }, remove: ["error", "error_epoch"] },
      before: [],
    });
    const large = JSON.stringify("x".repeat(1_000));
    const { record, before } = recordResult(node, large, undefined);
    expect(record).toEqual({ set: { output_epoch: 3 }, remove: ["error", "error_epoch"] });
    expect(before).toMatchObject([{ key: { pk: "RUN#r", sk: "OUTPUT#3#a" }, item: { value: large, generation: "g" } }]);
  });

  test("an error likewise, and the place where an earlier one stood is forgotten", () => {
    const node = runningWith({ epoch: 2 });
    const small = { name: "E", message: "m" };
    expect(recordResult(node, undefined, small).record).toEqual({
      set: { error: JSON.stringify(small) },
      remove: ["error_epoch"],
    });
    const large = { name: "E", message: "x".repeat(1_000) };
    const { record, before } = recordResult(node, undefined, large);
    expect(record).toEqual({ set: { error_epoch: 2 }, remove: ["error"] });
    expect(before).toMatchObject([{ key: { sk: "ERROR#2#a" }, item: { value: JSON.stringify(large) } }]);
  });

  test("both are kept where a raw output broke its schema, each where it fits", () => {
    const error = { name: "BadOutput", message: "y".repeat(300) };
    const output = JSON.stringify("x".repeat(400));
    const { record, before } = recordResult(runningWith(), output, error);
    expect(record.set).toEqual({ output, error_epoch: 1 });
    expect(before.map((write) => write.name)).toEqual(["error_beside"]);
  });

  test("can be read back from where it stands", async () => {
    const world = testWorld();
    const node = runningWith();
    const output = JSON.stringify("x".repeat(2_000));
    const error = { name: "E", message: "y".repeat(1_000) };
    for (const write of recordResult(node, output, error).before) await world.table.write(write);
    expect(await outputTextOf(world, { ...node, output_epoch: 1 })).toBe(output);
    expect(await errorTextOf(world.table, { ...node, error_epoch: 1 })).toBe(JSON.stringify(error));
    expect(await outputTextOf(world, { ...node, output: "5" })).toBe("5");
    await expect(outputTextOf(world, { ...node, output_epoch: 1, generation: "h" })).rejects.toThrow("another run");
    await expect(outputTextOf(world, { ...node, output_epoch: 2 })).rejects.toThrow("missing");
  });
});

/** Claims, then either fails and is tried again or ends, as told; the item's largest size on its way. */
async function largestOnItsWay(life: {
  readonly runId: string;
  readonly nodeId: string;
  readonly input: string;
  readonly fanOut: number;
  readonly fanIn: number;
  readonly messages: readonly string[];
  readonly output: string | undefined;
  readonly pool?: string | undefined;
}): Promise<number> {
  let largest = 0;
  const world = testWorld();
  const nodes = [
    ...Array.from({ length: life.fanIn }, (_, index) => ({
      node_id: `p${index}-${life.nodeId}`.slice(0, 60),
      tool: "work",
    })),
    {
      node_id: life.nodeId,
      tool: "work",
      input: life.input,
      depends_on: Array.from({ length: life.fanIn }, (_, index) => `p${index}-${life.nodeId}`.slice(0, 60)),
    },
    ...Array.from({ length: life.fanOut }, (_, index) => ({
      node_id: `c${index}`,
      tool: "work",
      depends_on: [life.nodeId],
    })),
  ];
  const command = startRunSchema.parse({ type: "start_run", run_id: life.runId, nodes });
  const tool = toolWith({ name: "work", ...(life.pool === undefined ? {} : { pool: life.pool }) });
  const writes = await startRun({
    command,
    commandId: "c",
    tools: toolsOf(tool),
    limits: testLimits(),
    nowMs: startMs,
    generation: "x".repeat(22),
  });
  if (!("length" in writes)) expect.fail(JSON.stringify(writes));
  await world.table.transact(writes);
  const key = { pk: `RUN#${life.runId}`, sk: `NODE#${life.nodeId}` };
  const look = async () => {
    largest = Math.max(largest, itemBytes((await world.memory.get(key)) ?? {}));
    return world.node(life.nodeId, life.runId);
  };
  const seen = await look();
  if (life.fanIn > 0)
    await world.memory.write({
      op: "update",
      name: "free",
      key,
      set: { status: "READY", ready_at_ms: startMs, not_before_ms: 0, dep_failed: false },
      remove: ["waiting_on"],
      conditions: [],
    });
  let dispatchId = seen.dispatch_id;
  for (const [index, message] of [...life.messages, undefined].entries()) {
    await world.table.write(
      claim({
        runId: life.runId,
        nodeId: life.nodeId,
        dispatchId,
        claimId: "c".repeat(22),
        messageId: "m".repeat(36),
        nowMs: startMs,
        leaseMs: 30_000,
        skewMs: 2_000,
        remainingMs: 300_000,
        carefree: ["work"],
        careful: [],
      }),
    );
    const node = await look();
    const error = message === undefined ? undefined : describeError({ name: "SomeError", message });
    const isLast = index === life.messages.length;
    const { record, before } = recordResult(node, isLast ? life.output : undefined, error);
    for (const write of before) await world.table.write(write);
    const step = isLast
      ? endNode({
          node,
          guard: ownedAt(node.epoch),
          ending: { status: "SUCCEEDED", effect: "unknown", certain: false, record },
          dependents: [],
          nowMs: startMs,
        })
      : requeue(node, { name: "retry", notBeforeMs: startMs, certain: index % 2 === 0, counts: true, record }, startMs);
    expect(await world.table.transact(step)).toEqual({ is: "applied" });
    await look();
    dispatchId = dispatchIdAt(node.epoch);
  }
  return largest;
}

const lives = (idLength: number) =>
  fc.record({
    runId: fc.integer({ min: 1, max: idLength }).map((length) => "r".repeat(length)),
    nodeId: fc.integer({ min: 1, max: idLength }).map((length) => "n".repeat(length)),
    input: fc.integer({ min: 0, max: 1_200 }).map((length) => "i".repeat(length)),
    fanOut: fc.nat(30),
    fanIn: fc.nat(40),
    messages: fc.array(
      fc.integer({ min: 0, max: 1_000 }).map((length) => "e".repeat(length)),
      { maxLength: 3 },
    ),
    output: fc.option(
      fc.integer({ min: 1, max: 1_200 }).map((length) => "1".repeat(length)),
      { nil: undefined },
    ),
    pool: fc.option(
      fc.integer({ min: 1, max: fixed.poolNameLength }).map((length) => "p".repeat(length)),
      { nil: undefined },
    ),
  });

describe("NodeState stays in one write unit on all its way", () => {
  test("for ids up to 48 bytes, whatever input, fan-in, fan-out, errors, output and pool", async () => {
    await fc.assert(
      fc.asyncProperty(lives(48), async (life) => {
        expect(await largestOnItsWay(life)).toBeLessThanOrEqual(fixed.writeUnitBytes);
      }),
      { numRuns: 150 },
    );
  });

  test("for every length of an error that is tried again, since the next claim brings a lease", async () => {
    for (let length = 300; length <= 800; length += 10) {
      const life = {
        runId: "r",
        nodeId: "n",
        input: "",
        fanOut: 0,
        fanIn: 0,
        messages: ["e".repeat(length)],
        output: undefined,
      };
      expect(await largestOnItsWay(life), `an error of ${length}`).toBeLessThanOrEqual(fixed.writeUnitBytes);
    }
  });

  test("for ids of 256 bytes too: they stand in the key and are not written a second time", async () => {
    const id = (letter: string): string => letter.repeat(fixed.idBytes);
    const pool = "p".repeat(fixed.poolNameLength);
    const life = {
      runId: id("r"),
      nodeId: id("n"),
      input: "",
      fanOut: 0,
      fanIn: 0,
      messages: [],
      output: undefined,
      pool,
    };
    expect(await largestOnItsWay(life)).toBeLessThanOrEqual(fixed.writeUnitBytes);
  });
});

test("a fresh node alone is far from a write unit", () => {
  const { output: _o, ...node } = nodeWith();
  expect(JSON.stringify(node).length).toBeLessThan(700);
});
