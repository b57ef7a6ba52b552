/** A worker dies by SIGKILL at every step of its way (design 8): its message comes back, and the effect happens once. */
import { expect, it } from "vitest";
import {
  claimsOf,
  comesBackWithinMs,
  expectSucceeded,
  newRunId,
  openProvider,
  openStack,
} from "../support/deployment.ts";
import { mentions } from "../support/fault-proxy.ts";
import { killAfterTheEffect } from "../support/kill-after-the-effect.ts";
import { waitUntil } from "../support/processes.ts";

const { proxies, start, end, depth } = await openStack("main");
const provider = await openProvider();

const chain = (tool: string) => [
  { nodeId: "first", tool },
  { nodeId: "second", tool: "ledger", dependsOn: ["first"] },
];

const killAtCommit = async (runId: string, when: "before" | "after"): Promise<number> => {
  await proxies.worker.on({ action: "TransactWriteItems", where: mentions(runId) }, { kill: when }).struck;
  return Date.now();
};

it.each([
  ["the provider has acted and the tool has not returned", (runId: string) => killAfterTheEffect(provider, runId)],
  ["the tool has returned and the commit has not been sent", (runId: string) => killAtCommit(runId, "before")],
])(
  "a worker killed after %s is followed by one with the same operation id and a higher fencing token",
  async (_, killed) => {
    const runId = newRunId();
    const dead = killed(runId);
    await start(runId, chain("ledger"));
    const diedAtMs = await dead;
    expectSucceeded(await end(runId));

    const calls = provider.callsOfRun(runId).filter((call) => call.nodeId === "first");
    expect(calls.map((call) => call.fencingToken)).toEqual([1, 2]);
    expect(new Set(calls.map((call) => call.operationId)).size).toBe(1);
    expect((calls[1]?.atMs ?? 0) - diedAtMs).toBeLessThan(comesBackWithinMs);
    expect(provider.effectsOfRun(runId)).toEqual(["/ledger/first", "/ledger/second"]);
    expect(provider.callsOfRun(runId).filter((call) => call.nodeId === "second")).toHaveLength(1);
  },
);

it("a worker killed when its commit is durable and its reply lost leaves a message that runs nothing when it comes back (I9)", async () => {
  const runId = newRunId();
  const dead = killAtCommit(runId, "after");
  await start(runId, chain("ledger"));
  const diedAtMs = await dead;
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

it("a tool whose key differs from attempt to attempt has two effects after the same kill: what the operation id is for", async () => {
  const runId = newRunId();
  const dead = killAfterTheEffect(provider, runId);
  await start(runId, chain("careless"));
  await dead;
  expectSucceeded(await end(runId));
  expect(provider.effectsOfRun(runId)).toEqual(["/ledger/first", "/ledger/first", "/ledger/second"]);
});
