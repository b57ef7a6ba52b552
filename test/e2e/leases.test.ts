/** Who holds the lease may write: long tools keep it, frozen workers lose it, deaf tools are ended with their process. */
import { expect, it } from "vitest";
import {
  claimsOf,
  comesBackWithinMs,
  expectSucceeded,
  newRunId,
  openProvider,
  openStack,
  shortLimits,
} from "../support/deployment.ts";
import { mentions } from "../support/fault-proxy.ts";
import { isAlive, resume, waitUntil } from "../support/processes.ts";

const { proxies, start, end, node, depth } = await openStack("main");
const provider = await openProvider();

it("a tool that takes three leases is kept by its heartbeats: one execution, epoch 1", async () => {
  const runId = newRunId();
  await start(runId, [{ nodeId: "only", tool: "long", input: { ms: 3 * shortLimits.leaseMs } }]);
  expectSucceeded(await end(runId));
  expect(await node(runId, "only")).toMatchObject({ epoch: 1, attempts_used: 1 });
  expect(provider.callsOfRun(runId)).toHaveLength(1);
  expect(claimsOf(proxies.worker, runId, "only")).toHaveLength(1);
});

it("a worker that is frozen before its commit until another has committed wakes to a refusal, and changes nothing (I2, I9)", async () => {
  const runId = newRunId();
  const frozen = proxies.worker.on(
    { action: "TransactWriteItems", where: mentions(runId, '"NODE#first"') },
    { stop: "before" },
  );
  await start(runId, [
    { nodeId: "first", tool: "ledger" },
    { nodeId: "second", tool: "ledger", dependsOn: ["first"] },
  ]);
  const { call: late, pid } = await frozen.struck;
  const run = await end(runId);
  expectSucceeded(run);
  const before = await node(runId, "first");

  await resume(pid ?? 0);
  await waitUntil(() => late.reply, 5_000, "the frozen worker's commit to be answered");
  expect(late.reply).toMatchObject({ status: 400, text: expect.stringContaining("TransactionCanceledException") });
  await waitUntil(async () => (await depth()) === 0, 10_000, "the queues to be empty");

  expect(run.nodes[0]).toMatchObject({ epoch: 2, output: { epoch: 2 } });
  expect(await node(runId, "first")).toEqual(before);
  const calls = provider.callsOfRun(runId);
  expect(calls.map(({ nodeId, fencingToken }) => [nodeId, fencingToken])).toEqual([
    ["first", 1],
    ["first", 2],
    ["second", 1],
  ]);
  const sent = proxies.relay.calls.filter(
    ({ action, text }) => action === "SendMessageBatch" && text.includes(runId) && text.includes("second"),
  );
  expect(sent).toHaveLength(1);
  expect(claimsOf(proxies.worker, runId, "second")).toHaveLength(1);
});

it("a worker that is frozen before its commit and wakes while another runs the node changes nothing, and the other commits (I2)", async () => {
  const runId = newRunId();
  const frozen = proxies.worker.on({ action: "TransactWriteItems", where: mentions(runId) }, { stop: "before" });
  await start(runId, [{ nodeId: "only", tool: "long", input: { ms: 3_000, fromAttempt: 2 } }]);
  const { call: late, pid } = await frozen.struck;
  await waitUntil(() => provider.callsOfRun(runId).length === 2, comesBackWithinMs, "another worker to take over");
  const claimed = await node(runId, "only");

  await resume(pid ?? 0);
  await waitUntil(() => late.reply, 2_000, "the frozen worker's commit to be answered");
  expect(late.reply).toMatchObject({ status: 400, text: expect.stringContaining("TransactionCanceledException") });
  const { epoch, claim_id, status } = claimed;
  expect({ epoch, status }).toEqual({ epoch: 2, status: "RUNNING" });
  expect(await node(runId, "only")).toMatchObject({ epoch, claim_id, status });

  const run = await end(runId);
  expectSucceeded(run);
  expect(run.nodes[0]).toMatchObject({ epoch: 2, output: { epoch: 2 } });
  expect(provider.callsOfRun(runId).map((call) => call.fencingToken)).toEqual([1, 2]);
});

it("a tool that heeds no abort has its outcome recorded as unknown, its process ended, and is tried again under the same operation id", async () => {
  const runId = newRunId();
  const recorded = proxies.worker.on({ action: "TransactWriteItems", where: mentions(runId) }, { hold: "after" });
  await start(runId, [{ nodeId: "only", tool: "deaf" }]);
  const { pid = 0 } = await recorded.struck;
  expect(await node(runId, "only")).toMatchObject({
    dispatch_id: "d-1",
    certain_through_epoch: 0,
    error: expect.stringContaining("ToolDidNotStop"),
  });
  await recorded.release();
  await waitUntil(async () => !(await isAlive(pid)), 5_000, "the process of the deaf tool to be ended");

  expectSucceeded(await end(runId));
  const calls = provider.callsOfRun(runId);
  expect(calls.map((call) => call.fencingToken)).toEqual([1, 2]);
  expect(new Set(calls.map((call) => call.operationId)).size).toBe(1);
});
