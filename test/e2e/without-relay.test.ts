/** What was committed READY is never enqueued, since the relay's mapping is off: the scanner alone brings the run to its end (I8). */
import { describe, expect, it } from "vitest";
import { expectSucceeded, newRunId, openProvider, openStack, statusesOf } from "../support/deployment.ts";

const unrelayed = await openStack("unrelayed");
const ruled = await openStack("ruled");
const provider = await openProvider();

describe.concurrent("without the relay", () => {
  it("a run with a join and a fan-out succeeds by the scanner alone, each node once", async () => {
    const runId = newRunId();
    await unrelayed.start(runId, [
      { nodeId: "left", tool: "ledger" },
      { nodeId: "right", tool: "ledger" },
      { nodeId: "join", tool: "ledger", dependsOn: ["left", "right"] },
      { nodeId: "sink-1", tool: "ledger", dependsOn: ["join"] },
      { nodeId: "sink-2", tool: "ledger", dependsOn: ["join"] },
    ]);
    expectSucceeded(await unrelayed.scanUntilEnded(runId));
    const calls = provider.callsOfRun(runId);
    expect(calls.map((call) => call.nodeId).sort()).toEqual(["join", "left", "right", "sink-1", "sink-2"]);
    expect(calls[2]?.nodeId).toBe("join");
  });

  it("what a failed node strands is skipped by the scanner alone, and the run fails", async () => {
    const runId = newRunId();
    await unrelayed.start(runId, [
      { nodeId: "bad", tool: "failing" },
      { nodeId: "good", tool: "ledger" },
      { nodeId: "join", tool: "ledger", dependsOn: ["bad", "good"] },
      { nodeId: "after", tool: "ledger", dependsOn: ["join"] },
    ]);
    const run = await unrelayed.scanUntilEnded(runId);
    expect(statusesOf(run)).toEqual({
      run: "FAILED",
      bad: "FAILED",
      good: "SUCCEEDED",
      join: "SKIPPED",
      after: "SKIPPED",
    });
  });

  it("a single node is woken by the scanner that the deployed rule invokes each minute", {
    timeout: 150_000,
  }, async () => {
    const runId = newRunId();
    await ruled.start(runId, [{ nodeId: "only", tool: "ledger" }]);
    expectSucceeded(await ruled.client.waitForRun(runId, { timeoutMs: 130_000 }));
    expect(provider.callsOfRun(runId)).toHaveLength(1);
  });
});
