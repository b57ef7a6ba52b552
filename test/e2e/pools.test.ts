/** A pool is a worker of its own: what names it runs there and nowhere else, and survives a kill as anywhere. */
import { expect, it } from "vitest";
import { comesBackWithinMs, expectSucceeded, newRunId, openProvider, openStack } from "../support/deployment.ts";
import { killAfterTheEffect } from "../support/kill-after-the-effect.ts";

const { pools, start, end } = await openStack("main");
const provider = await openProvider();

const poolFunction = pools.heavy?.functionName;

it("a graph whose nodes alternate between the main worker and a pool succeeds, and each node ran where its tool belongs", async () => {
  const runId = newRunId();
  await start(runId, [
    { nodeId: "a", tool: "ledger" },
    { nodeId: "b", tool: "heavy", dependsOn: ["a"] },
    { nodeId: "c", tool: "ledger", dependsOn: ["b"] },
    { nodeId: "d", tool: "heavy", dependsOn: ["b", "c"] },
    { nodeId: "e", tool: "heavy" },
  ]);
  const run = await end(runId);
  expectSucceeded(run);
  const ranIn = Object.fromEntries(
    run.nodes.map(({ nodeId, output }) => [nodeId, Reflect.get(Object(output), "ranIn")]),
  );
  expect(ranIn).toEqual({ a: undefined, b: poolFunction, c: undefined, d: poolFunction, e: poolFunction });
  expect(provider.effectsOfRun(runId).filter((path) => path !== "/ledger/e")).toEqual(
    ["a", "b", "c", "d"].map((nodeId) => `/ledger/${nodeId}`),
  );
});

it("a pool's worker that is killed once its tool has acted is followed by another of the same pool", async () => {
  const runId = newRunId();
  const dead = killAfterTheEffect(provider, runId);
  await start(runId, [{ nodeId: "only", tool: "heavy" }]);
  const diedAtMs = await dead;
  const run = await end(runId);
  expectSucceeded(run);

  const calls = provider.callsOfRun(runId);
  expect(calls.map((call) => call.fencingToken)).toEqual([1, 2]);
  expect(new Set(calls.map((call) => call.operationId)).size).toBe(1);
  expect((calls[1]?.atMs ?? 0) - diedAtMs).toBeLessThan(comesBackWithinMs);
  expect(provider.effectsOfRun(runId)).toEqual(["/ledger/only"]);
  expect(run.nodes[0]?.output).toMatchObject({ ranIn: poolFunction });
});

it("an output too large for the table goes from a pool to the main worker through the bucket, by a client that is loaded only then", async () => {
  const runId = newRunId();
  const characters = 20_000;
  await start(runId, [
    { nodeId: "big", tool: "large", input: { characters } },
    { nodeId: "reader", tool: "ledger", input: { text: { $output: "big", pointer: "/text" } } },
  ]);
  expectSucceeded(await end(runId));
  const [call] = provider.callsOfRun(runId);
  expect(Reflect.get(Object(call?.body), "input")).toEqual({ text: "x".repeat(characters) });
});
