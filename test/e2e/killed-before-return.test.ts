/** A worker dies when all is done but its handler has not returned (case d of the killed worker). */
import { expect, inject, it, onTestFinished } from "vitest";
import {
  claimsOf,
  comesBackWithinMs,
  expectSucceeded,
  newRunId,
  openProvider,
  openStack,
} from "../support/deployment.ts";
import { startFaultProxy } from "../support/fault-proxy.ts";
import { waitUntil } from "../support/processes.ts";

const { proxies, start, end, depth } = await openStack("gated");
const provider = await openProvider();

it("a worker killed before its handler returns leaves a message that runs nothing when it comes back (I9)", async () => {
  // The gate is where the test's own worker entry asks before it returns; the provider behind it has nothing to say.
  const gate = await startFaultProxy({ target: provider.url, port: inject("e2e").ports.gate });
  onTestFinished(() => gate.stop());
  const runId = newRunId();
  const killed = gate.on("POST /return", { kill: "before" });
  await start(runId, [
    { nodeId: "first", tool: "ledger" },
    { nodeId: "second", tool: "ledger", dependsOn: ["first"] },
  ]);
  await killed.struck;
  const diedAtMs = Date.now();
  expectSucceeded(await end(runId));

  const claims = await waitUntil(
    () => claimsOf(proxies.worker, runId, "first").length === 2 && claimsOf(proxies.worker, runId, "first"),
    comesBackWithinMs,
    "the message to come back",
  );
  expect((claims[1]?.atMs ?? 0) - diedAtMs).toBeLessThan(comesBackWithinMs);
  await waitUntil(async () => (await depth()) === 0, 5_000, "the queues to be empty");
  expect(provider.callsOfRun(runId).map((call) => [call.nodeId, call.fencingToken])).toEqual([
    ["first", 1],
    ["second", 1],
  ]);
});
