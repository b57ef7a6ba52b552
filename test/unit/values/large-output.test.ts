/** Outputs above what the table takes: an object before the commit, or no success. */
import { describe, expect, test } from "vitest";
import { outputTextOf } from "../../../shared/beside.ts";
import { handleCommand } from "../../../shared/command.ts";
import { contentHashOf, outputBlobKey, outputKey } from "../../../shared/keys.ts";
import { fixed } from "../../../shared/limits.ts";
import { loadInput } from "../../../shared/load-input.ts";
import type { NodeItem } from "../../../shared/model.ts";
import type { BlobAnswer } from "../../../shared/ports.ts";
import { recordResult } from "../../../shared/record.ts";
import type { AnyTool } from "../../../shared/tool.ts";
import { oddIds } from "../../contract/odd-texts.ts";
import {
  itemOf,
  nodeWith,
  runningWith,
  runWith,
  testLimits,
  testWorld,
  toolsOf,
  toolWith,
} from "../../support/world.ts";
import { setupWorker, type WorkerSetup } from "../core/worker-parts.ts";

const large = "x".repeat(fixed.outputBesideBytes);
const largeText = JSON.stringify(large);

/** A bucket of which every put is answered so, at most so often. */
function strikePuts(world: WorkerSetup["world"], answer: BlobAnswer, times = Number.POSITIVE_INFINITY): () => number {
  const put = world.blobs.put;
  let struck = 0;
  Object.assign(world, {
    blobs: {
      ...world.blobs,
      put: async (key: string, text: string) => {
        if (struck >= times) return put(key, text);
        struck += 1;
        return answer;
      },
    },
  });
  return () => struck;
}
const down: BlobAnswer = { is: "unknown", why: "the bucket is down" };

describe("an output of more than 16 KiB", () => {
  test("is an object before the commit, and the node points to it", async () => {
    const { world, deliver } = setupWorker({ execute: () => large });
    expect(await deliver()).toBe("acknowledge");
    const node = await world.node("a");
    expect(node).toMatchObject({ status: "SUCCEEDED", output_epoch: 1, output_blob: contentHashOf(largeText) });
    expect(node.output).toBeUndefined();
    expect(world.table.sent).toEqual(["claim", "end_succeeded+end_run"]);
    expect(world.blobs.keys()).toEqual([outputBlobKey(node, 1, contentHashOf(largeText))]);
    expect(await outputTextOf(world, node)).toBe(largeText);
  });

  test("of just 16 KiB is still an item beside its node", async () => {
    const { world, deliver } = setupWorker({ execute: () => "x".repeat(fixed.outputBesideBytes - 2) });
    await deliver();
    expect(world.blobs.keys()).toEqual([]);
    expect(await world.node("a")).toMatchObject({ status: "SUCCEEDED", output_epoch: 1 });
  });

  test.each<[string, BlobAnswer]>([
    ["whose put was lost, is put again", down],
    ["that met a conflict, is put again", { is: "busy", why: "conflict" }],
    ["that is there already, is taken for this one", { is: "there" }],
  ])("%s", async (_name, answer) => {
    const { world, deliver } = setupWorker({ execute: () => large });
    const struck = strikePuts(world, answer, 2);
    await deliver();
    expect((await world.node("a")).status).toBe("SUCCEEDED");
    expect(struck()).toBe(answer.is === "there" ? 1 : 2);
  });

  test.each<[AnyTool["effect"], object]>([
    ["read_only", { status: "READY", certain_through_epoch: 0, attempts_used: 1 }],
    ["idempotent", { status: "READY", certain_through_epoch: 0, attempts_used: 1 }],
    ["at_most_once", { status: "IN_DOUBT" }],
    ["reconcilable", { status: "READY", certain_through_epoch: 0 }],
  ])("that cannot be kept within the commit buffer leaves the effect unknown: %s", async (effect, expected) => {
    const tool: Partial<AnyTool> =
      effect === "reconcilable" ? { effect, reconcile: async () => ({ is: "unknown" }) } : { effect };
    const { world, deliver } = setupWorker({ execute: () => large, tool });
    strikePuts(world, down);
    const startedAtMs = world.clock.monotonicMs();
    expect(await deliver()).toBe("acknowledge");
    expect(await world.node("a")).toMatchObject({ ...expected, error: expect.stringContaining("output_not_kept") });
    expect(world.clock.monotonicMs() - startedAtMs).toBeLessThanOrEqual(world.limits.commitBufferMs);
    expect(world.counts.get("OutputNotKept")).toBe(1);
  });

  test("that reconcile found and that cannot be kept is asked for again", async () => {
    const { world, deliver } = setupWorker({
      items: [
        itemOf(
          nodeWith({
            epoch: 1,
            attempts_used: 1,
            dispatch_id: "d-1",
            open_since_ms: 1_800_000_000_000,
            claim_id: "c-1",
          }),
        ),
      ],
      tool: { effect: "reconcilable", reconcile: async () => ({ is: "done", output: large }) },
    });
    const struck = strikePuts(world, down);
    await deliver({ dispatchId: "d-1" });
    expect(struck()).toBeGreaterThan(1);
    expect(await world.node("a")).toMatchObject({
      status: "READY",
      dispatch_id: "d-2",
      attempts_used: 1,
      certain_through_epoch: 0,
    });
  });

  test("that breaks its schema ends FAILED with its effect done, with the value where it can be kept and else without", async () => {
    for (const isDown of [false, true]) {
      const { world, deliver } = setupWorker({
        execute: () => large,
        tool: { output: toolWith().output.refine(() => false, "never fits") },
      });
      if (isDown) strikePuts(world, down);
      await deliver();
      const node = await world.node("a");
      expect(node).toMatchObject({ status: "FAILED", effect: "done", error: expect.stringContaining("never fits") });
      expect(await outputTextOf(world, node)).toBe(isDown ? undefined : largeText);
    }
  });

  test("may be as large as the limit, and one byte more is FAILED with its effect done", async () => {
    for (const [length, status] of [
      [fixed.outputBytes - 2, "SUCCEEDED"],
      [fixed.outputBytes - 1, "FAILED"],
    ] as const) {
      const { world, deliver } = setupWorker({ execute: () => "x".repeat(length) });
      await deliver();
      expect(await world.node("a")).toMatchObject({ status, effect: "done" });
      if (status === "FAILED") expect((await world.node("a")).error).toContain("output too large");
    }
  });
});

describe("an object's name", () => {
  test("is short, plain, and another for each run, generation, node, epoch and content, whatever the ids", () => {
    const names = new Set<string>();
    for (const runId of oddIds)
      for (const nodeId of oddIds)
        for (const generation of ["g", "h"])
          for (const epoch of [1, 11])
            names.add(outputBlobKey({ run_id: runId, node_id: nodeId, generation }, epoch, contentHashOf("1")));
    expect(names.size).toBe(oddIds.length ** 2 * 4);
    for (const name of names) expect(name).toMatch(/^[0-9a-f]{64}\/[0-9a-f]{64}\/\d+\/[0-9a-f]{32}$/);
  });

  test("keeps a node that points to it within one write unit, beside the longest error that stays in it", () => {
    for (let length = 0; length < 900; length += 7) {
      const error = { name: "E", code: "bad_output", message: "m".repeat(length) };
      const { record, before } = recordResult(runningWith(), largeText, error);
      const bytes = Buffer.byteLength(
        Object.entries({ ...runningWith(), ...record.set })
          .flat()
          .join(""),
      );
      if (before.length === 0) expect(bytes).toBeLessThanOrEqual(fixed.writeUnitBytes);
    }
  });
});

describe("a dependent", () => {
  async function upstream(part: Partial<NodeItem> = {}) {
    const { record, blob } = recordResult(runningWith(), largeText, undefined);
    const item = { ...runningWith({ status: "SUCCEEDED" }), ...record.set, ...part } as NodeItem;
    const world = testWorld(itemOf(item), itemOf(runWith()));
    if (blob !== undefined) await world.blobs.put(blob.key, blob.text);
    return { world, key: blob?.key ?? "", reader: nodeWith({ node_id: "b", input: '{"$output":"a"}' }) };
  }

  test("is given the value", async () => {
    const { world, reader } = await upstream();
    expect(await loadInput(world, reader, toolWith())).toEqual({ is: "input", input: large });
  });

  test("is not run on an object that is gone, or is not what was written", async () => {
    const { world, reader, key } = await upstream();
    world.blobs.remove(key);
    await expect(loadInput(world, reader, toolWith())).rejects.toThrow("is missing");
    await world.blobs.put(key, '"something else"');
    await expect(loadInput(world, reader, toolWith())).rejects.toThrow("is not what was written");
  });

  test("that refers to more than a worker can hold fails with the reason, instead of ending its process", async () => {
    const count = Math.floor(fixed.referredBytes / fixed.outputBytes) + 1;
    const text = JSON.stringify("x".repeat(fixed.outputBytes - 2));
    const nodes = Array.from({ length: count }, (_, at) => runningWith({ node_id: `n${at}`, status: "SUCCEEDED" }));
    const recorded = nodes.map((node) => ({ node, ...recordResult(node, text, undefined) }));
    const world = testWorld(...recorded.map(({ node, record }) => itemOf({ ...node, ...record.set } as NodeItem)));
    for (const { blob } of recorded) if (blob !== undefined) await world.blobs.put(blob.key, blob.text);
    const input = JSON.stringify(nodes.map(({ node_id }) => ({ $output: node_id, pointer: "" })));
    expect(await loadInput(world, nodeWith({ node_id: "b", input }), toolWith())).toMatchObject({
      is: "bad",
      error: { code: "bad_input", message: expect.stringContaining(String(fixed.referredBytes)) },
    });
  });
});

describe("someone who resolves a doubt", () => {
  const inDoubt = () => runningWith({ status: "IN_DOUBT", doubt: "{}" });
  const said = (output: unknown, id: string) => ({
    messageId: id,
    body: JSON.stringify({
      type: "resolve_node",
      command_id: id,
      run_id: "r",
      node_id: "a",
      epoch: 1,
      by: "someone",
      why: "looked",
      resolution: "succeeded",
      output,
    }),
  });
  const setup = () =>
    Object.assign(testWorld(itemOf(inDoubt()), itemOf(runWith())), {
      limits: testLimits(),
      tools: toolsOf(toolWith({ effect: "at_most_once" })),
    });

  test.each([
    ["large", "y".repeat(20_000)],
    ["middling", "y".repeat(2_000)],
  ])("with a %s output is heard, also where the owner had kept another under the same epoch", async (_name, output) => {
    const world = setup();
    const owners = JSON.stringify("x".repeat(output.length));
    const { before, blob } = recordResult(inDoubt(), owners, undefined);
    for (const write of before) await world.memory.write(write);
    if (blob !== undefined) await world.blobs.put(blob.key, blob.text);
    await handleCommand(world, said(output, "one"));
    const node = await world.node("a");
    expect(node.status).toBe("SUCCEEDED");
    expect(await outputTextOf(world, node)).toBe(JSON.stringify(output));
    // The owner's item lies there still, under the key that the node's epoch would have led to.
    expect((await world.memory.get(outputKey("r", "a", 1)))?.value).toBe(before.length === 0 ? undefined : owners);
  });

  test("and whose object cannot be put is not answered, and comes again", async () => {
    const world = setup();
    const blobs = { ...world.blobs, put: async () => down };
    const broken = Object.assign({ ...world }, { blobs });
    await expect(world.clock.during(handleCommand(broken, said("y".repeat(20_000), "one")))).rejects.toThrow(
      "no answer",
    );
    expect((await world.node("a")).status).toBe("IN_DOUBT");
  });
});
