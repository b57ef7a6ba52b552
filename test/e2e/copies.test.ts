/** A message comes more than once, or too late: one owner, one execution, and no change by the losers. */
import { expect, it } from "vitest";
import { claimsOf, expectSucceeded, isClaim, newRunId, openProvider, openStack } from "../support/deployment.ts";
import { waitUntil } from "../support/processes.ts";

const { proxies, start, end, node, sendDispatch, depth, dispatches } = await openStack("main");
const provider = await openProvider();

const dispatch = (runId: string, nodeId: string, dispatchId = "d-0") => ({
  run_id: runId,
  node_id: nodeId,
  dispatch_id: dispatchId,
});

/** Claims of a node by now that have been answered. */
const answered = (runId: string, nodeId: string) =>
  claimsOf(proxies.worker, runId, nodeId).filter((call) => call.reply !== undefined);

/** A cold start while others are held would cost them their patience, so the processes are there before. */
async function warmUp(processes: number): Promise<void> {
  const runId = newRunId();
  const nodes = Array.from({ length: processes }, (_, place) => ({
    nodeId: `warm-${place}`,
    tool: "long",
    input: { ms: 1_500 },
  }));
  await start(runId, nodes);
  expectSucceeded(await end(runId));
}

it("copies of a running and of a finished node's message are acknowledged, run nothing and change nothing", async () => {
  const runId = newRunId();
  await start(runId, [{ nodeId: "only", tool: "long", input: { ms: 2_000 } }]);
  await provider.whenCalled("/ledger/only", 1);
  await sendDispatch(dispatch(runId, "only"));
  await waitUntil(() => answered(runId, "only").length === 2, 5_000, "the first copy to be refused");
  expectSucceeded(await end(runId));
  const before = await node(runId, "only");

  await sendDispatch(dispatch(runId, "only"));
  await waitUntil(() => answered(runId, "only").length === 3, 5_000, "the second copy to be refused");
  await waitUntil(async () => (await depth()) === 0, 5_000, "the queues to be empty");
  expect(answered(runId, "only").map((call) => call.reply?.status)).toEqual([200, 400, 400]);
  expect(await node(runId, "only")).toEqual(before);
  expect(before).toMatchObject({ epoch: 1, attempts_used: 1 });
  expect(provider.callsOfRun(runId)).toHaveLength(1);
});

it("of three workers that claim a node at the same instant one runs it, and the others write nothing (I3)", async () => {
  await warmUp(3);
  const runId = newRunId();
  const held = proxies.worker.on({ where: isClaim(runId, "only"), nth: "always" }, { hold: "before" });
  await start(runId, [{ nodeId: "only", tool: "long", input: { ms: 1_000 } }]);
  await sendDispatch(dispatch(runId, "only"), dispatch(runId, "only"));
  const claimants = await waitUntil(
    () => {
      const pids = new Set(held.strikes.map(({ pid }) => pid));
      return pids.size === 3 && !pids.has(undefined) && pids;
    },
    10_000,
    "three processes to claim",
  );
  await held.release();
  expectSucceeded(await end(runId));
  await waitUntil(async () => (await depth()) === 0, 20_000, "the queues to be empty");

  const [call] = provider.callsOfRun(runId);
  expect(provider.callsOfRun(runId)).toHaveLength(1);
  expect(await node(runId, "only")).toMatchObject({ epoch: 1, attempts_used: 1 });
  const owner = await call?.pid();
  expect(claimants).toContain(owner);
  const writes = ["UpdateItem", "PutItem", "TransactWriteItems"];
  for (const seen of proxies.worker.calls) {
    if (!writes.includes(seen.action) || !seen.text.includes(runId) || (await seen.pid()) === owner) continue;
    expect(seen.reply?.status).toBe(400);
  }
});

it("the first dispatch's message that arrives after a retry has made the second is stale: acknowledged, nothing run", async () => {
  const runId = newRunId();
  await start(runId, [{ nodeId: "only", tool: "retrying", input: { afterMs: 6_000 } }]);
  await waitUntil(async () => (await node(runId, "only")).dispatch_id === "d-1", 10_000, "the retry");
  const before = await node(runId, "only");
  expect(before).toMatchObject({ status: "READY", epoch: 1, certain_through_epoch: 1 });

  const seen = claimsOf(proxies.worker, runId, "only").length;
  await sendDispatch(dispatch(runId, "only"));
  await waitUntil(() => answered(runId, "only").length > seen, 3_000, "the stale message to be looked at");
  // What is left is the second dispatch's own message, which is still delayed.
  await waitUntil(async () => (await dispatches()).inFlight === 0, 3_000, "the stale message to be acknowledged");
  expect(await dispatches()).toEqual({ visible: 0, inFlight: 0, delayed: 1 });
  expect(await node(runId, "only")).toEqual(before);
  expect(provider.callsOfRun(runId)).toHaveLength(0);

  expectSucceeded(await end(runId));
  expect(provider.callsOfRun(runId).map((call) => [call.fencingToken, call.attemptKey])).toEqual([[2, "2"]]);
});
