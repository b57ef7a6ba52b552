/** A worker dies over a tool that must not be run twice (design 6): it is looked up, or someone says what became of it. */
import { expect, it } from "vitest";
import type { NodeItem } from "../../shared/model.ts";
import {
  expectSucceeded,
  isClaim,
  newRunId,
  openProvider,
  openStack,
  shortLimits,
  statusesOf,
} from "../support/deployment.ts";
import { killAfterTheEffect } from "../support/kill-after-the-effect.ts";
import { waitUntil } from "../support/processes.ts";
import { run as runProgram } from "../unit/cli/program.ts";

const { client, proxies, start, end, node } = await openStack("main");
const provider = await openProvider();

const chain = (tool: string) => [
  { nodeId: "first", tool },
  {
    nodeId: "second",
    tool: "ledger",
    input: { from: { $output: "first", pointer: "/ordinal" } },
    dependsOn: ["first"],
  },
];
/** From a claim on, the owner is surely dead after the function's timeout and the skew bound. */
const deadWithinMs = shortLimits.functionTimeoutMs + shortLimits.skewMs;
const doubtWithinMs = deadWithinMs + 15_000;
const answerWithinMs = 20_000;
const resolvedBy = { by: "the test", why: "the ledger says so" } as const;

const killOnceActed = async (runId: string): Promise<void> => {
  await killAfterTheEffect(provider, runId);
};

/** Kills the worker when its claim is durable and it has not called its tool. */
const killBeforeTheEffect = async (runId: string): Promise<void> => {
  await proxies.worker.on({ action: "UpdateItem", where: isClaim(runId, "first") }, { kill: "after" }).struck;
};

/** @returns the node as its dead owner left it. */
async function startAndKill(runId: string, tool: string, killed: (runId: string) => Promise<void>): Promise<NodeItem> {
  const dead = killed(runId);
  await start(runId, chain(tool));
  await dead;
  const left = await node(runId, "first");
  expect(left).toMatchObject({ status: "RUNNING", epoch: 1, certain_through_epoch: 0 });
  return left;
}

async function inDoubt(runId: string): Promise<NodeItem> {
  const look = async () => {
    const found = await node(runId, "first");
    return found.status === "IN_DOUBT" && found;
  };
  return waitUntil(look, doubtWithinMs, "the node to be in doubt");
}

const callsOfFirst = (runId: string) => provider.callsOfRun(runId).filter((call) => call.nodeId === "first");
const status = async (runId: string): Promise<string> => (await runProgram(client, ["status", runId])).stdout;

/** Each waits for its owner's invocation to be surely over, so all are killed at once and looked at one after another. */
const scene = async (tool: string, killed: (runId: string) => Promise<void>) => {
  const runId = newRunId();
  return { runId, left: await startAndKill(runId, tool, killed) };
};
const [found, notDone, doubtful, cancelled, again] = await Promise.all([
  scene("looked-up", killOnceActed),
  scene("looked-up", killBeforeTheEffect),
  scene("once", killOnceActed),
  scene("once", killOnceActed),
  scene("once", killBeforeTheEffect),
]);

it("a reconcilable tool killed after its effect is looked up once its owner is surely dead: the effect is found, and not made again", async () => {
  const { runId, left } = found;
  const run = await end(runId);
  expectSucceeded(run);
  expect(run.nodes[0]).toMatchObject({ attempts: 1, epoch: 2, effect: "done" });
  expect(run.nodes[0]?.endedAtMs).toBeGreaterThan(left.owner_dead_at_ms ?? Number.POSITIVE_INFINITY);
  expect(callsOfFirst(runId)).toHaveLength(1);
  expect(provider.effectsOfRun(runId)).toEqual(["/ledger/first", "/ledger/second"]);
});

it("a reconcilable tool killed before its effect is found not done, and run again: one effect", async () => {
  const { runId, left } = notDone;
  const run = await end(runId);
  expectSucceeded(run);
  expect(run.nodes[0]).toMatchObject({ attempts: 2, epoch: 3, effect: "done" });
  const calls = callsOfFirst(runId);
  expect(calls.map((call) => call.fencingToken)).toEqual([3]);
  expect(calls[0]?.atMs).toBeGreaterThan(left.owner_dead_at_ms ?? Number.POSITIVE_INFINITY);
  expect(provider.effectsOfRun(runId)).toEqual(["/ledger/first", "/ledger/second"]);
});

it("an at_most_once tool killed after its effect is in doubt, which status shows, and resolved as succeeded its dependents run", async () => {
  const { runId, left } = doubtful;
  const doubted = await inDoubt(runId);
  expect(JSON.parse(doubted.doubt ?? "{}").atMs).toBeGreaterThan(left.owner_dead_at_ms ?? Number.POSITIVE_INFINITY);
  expect(doubted).not.toHaveProperty("expires_at");

  const [listed] = (await client.listDoubts()).filter((each) => each.runId === runId);
  expect(listed).toMatchObject({ nodeId: "first", tool: "once", attempt: 1, epoch: 1 });
  expect(await status(runId)).toContain("run waits for first: in doubt since ");
  expect(statusesOf((await client.getRun(runId)) ?? expect.unreachable())).toEqual({
    run: "RUNNING",
    first: "IN_DOUBT",
    second: "PENDING",
  });

  const said = { epoch: 1, resolution: "succeeded", ...resolvedBy } as const;
  const bad = await client.resolveNode(runId, "first", { ...said, output: { ordinal: "one" } });
  await expect(bad.accepted({ timeoutMs: answerWithinMs })).rejects.toMatchObject({
    code: "bad_output",
    node: "first",
  });
  const resolution = await client.resolveNode(runId, "first", { ...said, output: { ordinal: 41 } });
  expect(await resolution.accepted({ timeoutMs: answerWithinMs })).toMatchObject({ nodeStatus: "SUCCEEDED" });

  const run = await end(runId);
  expectSucceeded(run);
  expect(run.nodes[0]).toMatchObject({ output: { ordinal: 41 }, effect: "done", resolution: { by: "the test" } });
  expect(provider.callsOfRun(runId).find((call) => call.nodeId === "second")?.body).toMatchObject({
    input: { from: 41 },
  });
  expect(provider.effectsOfRun(runId)).toEqual(["/ledger/first", "/ledger/second"]);
  const late = await client.resolveNode(runId, "first", { epoch: 1, resolution: "not_done", ...resolvedBy });
  await expect(late.accepted({ timeoutMs: answerWithinMs })).rejects.toMatchObject({ code: "not_in_doubt" });
});

it("a doubt outlives a cancel: the run stays CANCELLING until it is resolved, and then ends", async () => {
  const { runId } = cancelled;
  await inDoubt(runId);
  await (await client.cancelRun(runId)).accepted({ timeoutMs: answerWithinMs });
  const before = await client.getRun(runId);
  expect(before).toMatchObject({ status: "CANCELLING", ended: false, waitsFor: [{ nodeId: "first" }] });
  expect(before?.nodes[0]?.status).toBe("IN_DOUBT");

  const resolution = await client.resolveNode(runId, "first", {
    epoch: 1,
    resolution: "failed",
    effect: "done",
    ...resolvedBy,
  });
  await resolution.accepted({ timeoutMs: answerWithinMs });
  const run = await end(runId);
  expect(statusesOf(run)).toEqual({ run: "CANCELLED", first: "FAILED", second: "SKIPPED" });
  expect(run.nodes[0]).toMatchObject({ effect: "done", error: { name: "ResolvedAsFailed" } });
  expect(callsOfFirst(runId)).toHaveLength(1);
});

it("an at_most_once tool killed before its effect and resolved as not done runs again: one effect", async () => {
  const { runId } = again;
  await inDoubt(runId);
  const resolution = await client.resolveNode(runId, "first", { epoch: 1, resolution: "not_done", ...resolvedBy });
  expect(await resolution.accepted({ timeoutMs: answerWithinMs })).toMatchObject({ changed: true });
  const run = await end(runId);
  expectSucceeded(run);
  expect(run.nodes[0]).toMatchObject({ attempts: 1, epoch: 3, resolution: { resolution: "not_done" } });
  expect(callsOfFirst(runId).map((call) => call.fencingToken)).toEqual([3]);
  expect(provider.effectsOfRun(runId)).toEqual(["/ledger/first", "/ledger/second"]);
});
