/** What AWS hands in and what it is told: a bad record fails alone, whatever it is. */
import type { SQSEvent, SQSRecord } from "aws-lambda";
import { describe, expect, test } from "vitest";
import { commandsHandler } from "../../../functions/events/commands.ts";
import { workerHandler } from "../../../functions/events/worker.ts";
import type { AnyTool } from "../../../shared/tool.ts";
import { fakeQueue, itemOf, nodeWith, runWith, testLimits, testWorld, toolsOf, toolWith } from "../../support/world.ts";

const record = (messageId: string, body: string): SQSRecord => ({
  messageId,
  receiptHandle: `receipt-${messageId}`,
  body,
  attributes: {
    ApproximateReceiveCount: "1",
    SentTimestamp: "0",
    SenderId: "s",
    ApproximateFirstReceiveTimestamp: "0",
  },
  messageAttributes: {},
  md5OfBody: "",
  eventSource: "aws:sqs",
  eventSourceARN: "arn:aws:sqs:eu-central-1:000000000000:q",
  awsRegion: "eu-central-1",
});
const eventOf = (...bodies: readonly string[]): SQSEvent => ({
  Records: bodies.map((body, index) => record(`m-${index}`, body)),
});
const failures = (...ids: string[]) => ({ batchItemFailures: ids.map((itemIdentifier) => ({ itemIdentifier })) });

const badBodies = ["{", "null", "", '{"run_id":"r"}', '{"run_id":"r","node_id":"n","dispatch_id":"d-0","extra":1}'];

describe("the worker's event", () => {
  function setup(execute: (nodeId: string) => unknown = () => ({})) {
    const ids = ["a", "b", "c", "d", "e"];
    const world = testWorld(
      ...ids.map((node_id, ordinal) => itemOf(nodeWith({ node_id, ordinal, max_attempts: 1 }))),
      itemOf(runWith({ waiting_on: new Set([0, 1, 2, 3, 4]) })),
    );
    const tool = toolWith({ execute: async (_input, { nodeId }) => execute(nodeId) });
    const handle = workerHandler({
      ...world,
      limits: testLimits(),
      namespace: "n",
      tools: toolsOf(tool),
      pulse: world,
      endProcess: () => Promise.reject(new Error("ended")),
    });
    const run = (...bodies: readonly string[]) =>
      world.clock.during(
        handle(eventOf(...bodies), { getRemainingTimeInMillis: () => 300_000 - world.clock.monotonicMs() }),
      );
    return { world, ids, run };
  }
  const bodyOf = (nodeId: string) => JSON.stringify({ run_id: "r", node_id: nodeId, dispatch_id: "d-0" });

  test("bad and good records, ten in one event: the bad ones are kept, the good ones done as if alone", async () => {
    const { world, ids, run } = setup();
    expect(await run(...ids.flatMap((id, index) => [badBodies[index] ?? "{", bodyOf(id)]))).toEqual(failures());
    for (const id of ids) expect((await world.node(id)).status).toBe("SUCCEEDED");
    expect(world.queue.rejected.map(({ body }) => body)).toEqual(badBodies);
    expect(world.queue.rejected.every(({ source, reason }) => source === "dispatch" && reason !== "")).toBe(true);
  });

  test("tools that throw undefined, null, a text fail their own node only, and each outcome is recorded (BUG-014)", async () => {
    const odd = new Map<string, unknown>([
      ["a", undefined],
      ["b", null],
      ["c", "text"],
    ]);
    const { world, ids, run } = setup((id) => {
      if (odd.has(id)) throw odd.get(id);
      return {};
    });
    expect(await run(...ids.map(bodyOf))).toEqual(failures());
    const statuses = await Promise.all(ids.map(async (id) => (await world.node(id)).status));
    expect(statuses).toEqual(["FAILED", "FAILED", "FAILED", "SUCCEEDED", "SUCCEEDED"]);
  });

  test("what comes back is listed, what is acknowledged is not", async () => {
    const { world, run } = setup();
    world.table.strike("claim", "throws");
    expect(await run(bodyOf("a"), bodyOf("b"))).toEqual(failures("m-0"));
    expect((await world.node("a")).status).toBe("READY");
    expect((await world.node("b")).status).toBe("SUCCEEDED");
  });

  test("when the table answers nothing, every record is listed", async () => {
    const { world, ids, run } = setup();
    world.table.strike("claim", ...ids.map(() => "throws" as const));
    expect(await run(...ids.map(bodyOf))).toEqual(failures("m-0", "m-1", "m-2", "m-3", "m-4"));
  });

  test("a batch larger than one claims each node only when the one before is done (I3)", async () => {
    const { world, ids, run } = setup();
    await run(...ids.map(bodyOf));
    expect(world.table.sent.map((name) => name.split("+")[0])).toEqual(ids.flatMap(() => ["claim", "end_succeeded"]));
  });

  describe("with less time left, after the first, than a whole attempt may take", () => {
    const handleSlow = (part: Partial<AnyTool>, takesMs: number) => {
      const ids = ["a", "b", "c"];
      const world = testWorld(
        ...ids.map((node_id, ordinal) => itemOf(nodeWith({ node_id, ordinal }))),
        itemOf(runWith({ waiting_on: new Set([0, 1, 2]) })),
      );
      const tool = toolWith({
        execute: async (_input, { signal }) => {
          await world.clock.sleep(takesMs, signal);
          signal.throwIfAborted();
          return {};
        },
        ...part,
      });
      const handle = workerHandler({
        ...world,
        limits: testLimits(),
        namespace: "n",
        tools: toolsOf(tool),
        pulse: { table: world.table, queue: fakeQueue() },
        endProcess: () => Promise.reject(new Error("ended")),
      });
      const answer = world.clock.during(
        handle(eventOf(...ids.map(bodyOf)), { getRemainingTimeInMillis: () => 300_000 - world.clock.monotonicMs() }),
      );
      return { world, answer };
    };

    test("no attempt is begun that its neighbours would cut short: the rest comes back at once, and not after its whole visibility", async () => {
      const { world, answer } = handleSlow({ effect: "at_most_once" }, 200_000);
      expect(await answer).toEqual(failures("m-1", "m-2"));
      expect((await world.node("a")).status).toBe("SUCCEEDED");
      for (const id of ["b", "c"]) expect(await world.node(id)).toMatchObject({ status: "READY", epoch: 0 });
      expect(world.queue.hidden).toEqual([
        { receiptHandle: "receipt-m-1", forMs: 1_000 },
        { receiptHandle: "receipt-m-2", forMs: 1_000 },
      ]);
    });

    test("tools that say how long they take go on for as long as one more fits", async () => {
      const { answer } = handleSlow({ timeoutMs: 120_000 }, 100_000);
      expect(await answer).toEqual(failures("m-2"));
    });
  });

  test("the same message three times in one event runs its node once", async () => {
    let calls = 0;
    const { run } = setup(() => {
      calls += 1;
      return {};
    });
    expect(await run(bodyOf("a"), bodyOf("a"), bodyOf("a"))).toEqual(failures());
    expect(calls).toBe(1);
  });
});

describe("the worker's event, over a tool that must not run twice", () => {
  test("a record whose node goes IN_DOUBT is done with, and the others go on", async () => {
    const ids = ["a", "b", "c"];
    const world = testWorld(
      ...ids.map((node_id, ordinal) => itemOf(nodeWith({ node_id, ordinal }))),
      itemOf(runWith({ waiting_on: new Set([0, 1, 2]) })),
    );
    const tool = toolWith({
      effect: "at_most_once",
      execute: async (_input, { nodeId }) => {
        if (nodeId === "b") throw new Error("who knows");
        return {};
      },
    });
    const handle = workerHandler({
      ...world,
      limits: testLimits(),
      namespace: "n",
      tools: toolsOf(tool),
      pulse: world,
      endProcess: () => Promise.reject(new Error("ended")),
    });
    const bodies = ids.map((node_id) => JSON.stringify({ run_id: "r", node_id, dispatch_id: "d-0" }));
    const event = eventOf(...bodies);
    expect(await world.clock.during(handle(event, { getRemainingTimeInMillis: () => 300_000 }))).toEqual(failures());
    const statuses = await Promise.all(ids.map(async (id) => (await world.node(id)).status));
    expect(statuses).toEqual(["SUCCEEDED", "IN_DOUBT", "SUCCEEDED"]);
    expect((await world.run()).status).toBe("RUNNING");
  });
});

describe("the commands' event", () => {
  function setup() {
    const world = testWorld();
    const handle = commandsHandler({ ...world, limits: testLimits(), tools: toolsOf(toolWith()) });
    return { world, run: (...bodies: readonly string[]) => world.clock.during(handle(eventOf(...bodies))) };
  }
  const startOf = (runId: string) =>
    JSON.stringify({ type: "start_run", run_id: runId, nodes: [{ node_id: "a", tool: "work" }] });

  test("bad and good commands, ten in one event: the bad ones are refused and kept, the good ones make their runs", async () => {
    const { world, run } = setup();
    const ids = ["r1", "r2", "r3", "r4", "r5"];
    expect(await run(...ids.flatMap((id, index) => [badBodies[index] ?? "{", startOf(id)]))).toEqual(failures());
    for (const id of ids) expect((await world.run(id)).status).toBe("RUNNING");
    expect(world.queue.rejected.map(({ body }) => body).sort()).toEqual([...badBodies].sort());
  });

  test("a command that can neither be carried out nor refused now comes again alone", async () => {
    const { world, run } = setup();
    world.table.strike("start_run", "throws");
    expect(await run(startOf("r1"), startOf("r2"))).toEqual(failures("m-0"));
    expect((await world.run("r2")).status).toBe("RUNNING");
  });

  test("a refusal that cannot be kept now comes again, and the good ones do not", async () => {
    const { world, run } = setup();
    world.queue.isDown = true;
    expect(await run("{", startOf("r1"), "[]")).toEqual(failures("m-0", "m-2"));
  });

  test("a resolution among other commands is carried out, and one of a node that is not in doubt is refused alone", async () => {
    const { world, run } = setup();
    const doubted = nodeWith({ status: "IN_DOUBT", epoch: 2, expires_at: undefined });
    for (const item of [doubted, runWith({ expires_at: undefined })]) {
      const { pk, sk, ...rest } = itemOf(item);
      await world.memory.write({ op: "put", name: "x", key: { pk, sk }, item: rest, conditions: [] });
    }
    const resolution = (epoch: number) =>
      JSON.stringify({
        type: "resolve_node",
        run_id: "r",
        node_id: "a",
        epoch,
        resolution: "not_done",
        by: "ada",
        why: "not there",
      });
    expect(await run(startOf("r1"), resolution(1), resolution(2), "{")).toEqual(failures());
    expect(await world.node("a")).toMatchObject({ status: "READY", dispatch_id: "d-3" });
    expect(world.queue.rejected.map(({ body }) => body).sort()).toEqual([resolution(1), "{"].sort());
  });
});
