/** The deadline passes, or the run is cancelled: nothing new starts, what runs is told, and each end says what is known (I14, I15). */
import { expect, it } from "vitest";
import { newRunId, openProvider, openStack, statusesOf } from "../support/deployment.ts";
import { waitUntil } from "../support/processes.ts";

const { client, start, end, node } = await openStack("main");
/** Without a relay a READY node stays so until the test lets a scanner look. */
const unrelayed = await openStack("unrelayed");
const provider = await openProvider();

const calledNodes = (runId: string) =>
  provider
    .callsOfRun(runId)
    .map((call) => call.nodeId)
    .sort();

/** One node in each state that a living node can have, and one behind each. */
const inEachState = [
  { nodeId: "running", tool: "long", input: { ms: 9_000 } },
  { nodeId: "behind-running", tool: "ledger", dependsOn: ["running"] },
  { nodeId: "ready", tool: "retrying", input: { afterMs: 7_000 } },
  { nodeId: "behind-ready", tool: "ledger", dependsOn: ["ready"] },
  { nodeId: "join", tool: "ledger", dependsOn: ["behind-running", "behind-ready"] },
] as const;

const reached = (runId: string) =>
  waitUntil(
    async () =>
      (await node(runId, "ready")).dispatch_id === "d-1" && provider.callsOfRun(runId).length === 1 && "each state",
    10_000,
    "one node to run and one to wait for its retry",
  );

it("a run whose deadline passes ends EXPIRED: the running node is stopped, the ready one never starts, the others are skipped", async () => {
  const runId = newRunId();
  await start(runId, inEachState, { deadlineMs: 5_000 });
  await reached(runId);
  const run = await end(runId);
  expect(statusesOf(run)).toEqual({
    run: "EXPIRED",
    running: "EXPIRED",
    "behind-running": "SKIPPED",
    ready: "EXPIRED",
    "behind-ready": "SKIPPED",
    join: "SKIPPED",
  });
  // The stopped tool had called the provider; the one that waited had said for certain that it had not.
  expect(run.nodes.map((each) => each.effect)).toEqual(["unknown", "none", "none", "none", "none"]);
  expect(run.nodes.map((each) => each.attempts)).toEqual([1, 0, 1, 0, 0]);
  expect(calledNodes(runId)).toEqual(["running"]);
  expect(run.nodes[0]?.endedAtMs).toBeLessThan(run.deadlineAtMs + 2_000);
});

it("cancel_run while nodes are READY, PENDING and RUNNING ends the run CANCELLED, and nothing new starts", async () => {
  const runId = newRunId();
  await start(runId, inEachState);
  await reached(runId);
  const cancel = await client.cancelRun(runId, { reason: "no longer wanted" });
  expect(await cancel.accepted({ timeoutMs: 10_000 })).toMatchObject({ changed: true, runStatus: "CANCELLING" });
  const run = await end(runId);
  expect(statusesOf(run)).toEqual({
    run: "CANCELLED",
    running: "CANCELLED",
    "behind-running": "SKIPPED",
    ready: "CANCELLED",
    "behind-ready": "SKIPPED",
    join: "SKIPPED",
  });
  expect(run.cancelReason).toBe("no longer wanted");
  expect(run.nodes.map((each) => each.effect)).toEqual(["unknown", "none", "none", "none", "none"]);
  expect(calledNodes(runId)).toEqual(["running"]);
});

const readyAndPending = [
  { nodeId: "ready", tool: "ledger" },
  { nodeId: "pending", tool: "ledger", dependsOn: ["ready"] },
];

it("a run that is cancelled before any node was claimed runs none", async () => {
  const runId = newRunId();
  await unrelayed.start(runId, readyAndPending);
  await (await unrelayed.client.cancelRun(runId)).accepted({ timeoutMs: 10_000 });
  const run = await unrelayed.scanUntilEnded(runId);
  expect(statusesOf(run)).toEqual({ run: "CANCELLED", ready: "CANCELLED", pending: "SKIPPED" });
  expect(run.nodes.map((each) => each.effect)).toEqual(["none", "none"]);
  expect(calledNodes(runId)).toEqual([]);
});

it("a run whose deadline passes before any node was claimed runs none", async () => {
  const runId = newRunId();
  await unrelayed.start(runId, readyAndPending, { deadlineMs: 1 });
  const run = await unrelayed.scanUntilEnded(runId);
  expect(statusesOf(run)).toEqual({ run: "EXPIRED", ready: "EXPIRED", pending: "SKIPPED" });
  expect(run.nodes.map((each) => [each.effect, each.attempts])).toEqual([
    ["none", 0],
    ["none", 0],
  ]);
  expect(calledNodes(runId)).toEqual([]);
});

it("a running tool that ends well when it is told of the cancel keeps its outcome as fact, and what it frees is cancelled by its claim", async () => {
  const runId = newRunId();
  await start(runId, [
    { nodeId: "running", tool: "finishing", input: { ms: 9_000 } },
    { nodeId: "next", tool: "ledger", dependsOn: ["running"] },
  ]);
  await waitUntil(() => provider.callsOfRun(runId).length === 1, 10_000, "the tool to run");
  await (await client.cancelRun(runId)).accepted({ timeoutMs: 10_000 });
  const run = await end(runId);
  expect(statusesOf(run)).toEqual({ run: "CANCELLED", running: "SUCCEEDED", next: "CANCELLED" });
  expect(run.nodes.map((each) => each.effect)).toEqual(["done", "none"]);
  expect(calledNodes(runId)).toEqual(["running"]);
});

it("a node that fails for certain skips all that depends on it, however far, and the rest goes on", async () => {
  const runId = newRunId();
  await start(runId, [
    { nodeId: "bad", tool: "failing" },
    { nodeId: "behind", tool: "ledger", dependsOn: ["bad"] },
    { nodeId: "far-behind", tool: "ledger", dependsOn: ["behind", "good"] },
    { nodeId: "good", tool: "ledger" },
    { nodeId: "after-good", tool: "ledger", dependsOn: ["good"] },
  ]);
  const run = await end(runId);
  expect(statusesOf(run)).toEqual({
    run: "FAILED",
    bad: "FAILED",
    behind: "SKIPPED",
    "far-behind": "SKIPPED",
    good: "SUCCEEDED",
    "after-good": "SUCCEEDED",
  });
  expect(run.nodes[0]).toMatchObject({ effect: "none", error: { name: "NonRetryableError", message: "never" } });
});

it("the cancel of a run that has ended changes nothing and says how it ended", async () => {
  const runId = newRunId();
  await start(runId, [{ nodeId: "only", tool: "ledger" }]);
  const before = await end(runId);
  const cancel = await client.cancelRun(runId);
  expect(await cancel.accepted({ timeoutMs: 10_000 })).toMatchObject({ changed: false, runStatus: "SUCCEEDED" });
  expect(await client.getRun(runId)).toEqual(before);
});

it("the cancel of a run that never was is refused with that reason", async () => {
  const runId = newRunId();
  const cancel = await client.cancelRun(runId);
  await expect(cancel.accepted({ timeoutMs: 10_000 })).rejects.toMatchObject({ code: "no_such_run", value: runId });
});
