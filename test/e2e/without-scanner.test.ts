/** The scanner's rule is off and the relay dies between what it did and its return: the relay alone does it (I8), and copies change nothing. */
import { expect, it } from "vitest";
import { claimsOf, expectSucceeded, newRunId, openProvider, openStack } from "../support/deployment.ts";
import { mentions } from "../support/fault-proxy.ts";
import { waitUntil } from "../support/processes.ts";

const { proxies, start, end, node, depth } = await openStack("main");
const provider = await openProvider();

const join = [
  { nodeId: "left", tool: "ledger" },
  { nodeId: "right", tool: "ledger" },
  { nodeId: "join", tool: "ledger", dependsOn: ["left", "right"] },
];
const calledNodes = (runId: string) =>
  provider
    .callsOfRun(runId)
    .map((call) => call.nodeId)
    .sort();
const onceEach = ["join", "left", "right"];

it("a relay killed after it has sent sends again, and the copies run nothing", async () => {
  const runId = newRunId();
  const killed = proxies.relay.on({ action: "SendMessageBatch", where: mentions(runId) }, { kill: "after" });
  await start(runId, join);
  await killed.struck;
  expectSucceeded(await end(runId));
  await waitUntil(async () => (await depth()) === 0, 10_000, "the copies to be acknowledged");
  // Both roots' messages were sent twice; the second claim of each was refused.
  expect(claimsOf(proxies.worker, runId, "left").length).toBeGreaterThanOrEqual(2);
  expect(calledNodes(runId)).toEqual(onceEach);
  for (const id of onceEach) expect(await node(runId, id)).toMatchObject({ epoch: 1, attempts_used: 1 });
});

it("a relay killed before it has sent sends when the record comes again", async () => {
  const runId = newRunId();
  const killed = proxies.relay.on({ action: "SendMessageBatch", where: mentions(runId) }, { kill: "before" });
  await start(runId, join);
  await killed.struck;
  expectSucceeded(await end(runId));
  expect(calledNodes(runId)).toEqual(onceEach);
});

// Of the updates of a join with two parents the second empties its set, and the third makes it READY.
it.each([
  ["emptied a join's set, and before it made the join READY,", 2],
  ["made a join READY, and before it sent its message,", 3],
])("a relay killed after it %s does the rest when the record comes again (I11)", async (_, nth) => {
  const runId = newRunId();
  const ofJoin = mentions(runId, '"NODE#join"');
  const killed = proxies.relay.on({ action: "UpdateItem", where: ofJoin, nth }, { kill: "after" });
  await start(runId, join);
  await killed.struck;
  expectSucceeded(await end(runId));
  expect(calledNodes(runId)).toEqual(onceEach);
  expect(await node(runId, "join")).toMatchObject({ epoch: 1, dispatch_id: "d-0" });
});
