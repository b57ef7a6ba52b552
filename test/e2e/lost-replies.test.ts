/** Nobody dies, but the table's answer never arrives: a lost reply is not a failure (I10). */
import { expect, it } from "vitest";
import { expectSucceeded, isClaim, newRunId, openProvider, openStack } from "../support/deployment.ts";
import { type FaultProxy, mentions, type ProxiedCall } from "../support/fault-proxy.ts";

const { proxies, start, end, node } = await openStack("main");
const provider = await openProvider();

/** The SDK tries a call three times under one token; a fourth is the core's own, which must know its write by its mark. */
const triesOfOneSend = 3;

/** @returns how to wait until all have been lost: what the write did may be seen long before its sender gives up. */
function swallow(proxy: FaultProxy, action: string, where: (call: ProxiedCall) => boolean, replies: number) {
  const rules = Array.from({ length: replies }, (_, place) =>
    proxy.on({ action, where, nth: place + 1 }, { swallow: true }),
  );
  return () => Promise.all(rules.map((rule) => rule.struck));
}

it.each([1, triesOfOneSend])(
  "a claim whose answer is lost %i times is known by its claim_id, and its owner goes on",
  async (replies) => {
    const runId = newRunId();
    const lost = swallow(proxies.worker, "UpdateItem", isClaim(runId, "only"), replies);
    await start(runId, [{ nodeId: "only", tool: "ledger" }]);
    expectSucceeded(await end(runId));
    await lost();
    expect(provider.callsOfRun(runId).map((call) => call.fencingToken)).toEqual([1]);
    expect(await node(runId, "only")).toMatchObject({ epoch: 1, attempts_used: 1 });
  },
);

it.each([1, triesOfOneSend])(
  "a commit whose answer is lost %i times counts as committed, and frees its dependent once",
  async (replies) => {
    const runId = newRunId();
    const lost = swallow(proxies.worker, "TransactWriteItems", mentions(runId, '"NODE#first"'), replies);
    await start(runId, [
      { nodeId: "first", tool: "ledger" },
      { nodeId: "second", tool: "ledger", dependsOn: ["first"] },
    ]);
    expectSucceeded(await end(runId));
    await lost();
    expect(provider.callsOfRun(runId).map((call) => [call.nodeId, call.fencingToken])).toEqual([
      ["first", 1],
      ["second", 1],
    ]);
  },
);

it("a start whose answer is lost is known by its generation, and makes one run", async () => {
  const runId = newRunId();
  const lost = swallow(proxies.commands, "TransactWriteItems", mentions(runId), triesOfOneSend);
  await start(runId, [{ nodeId: "only", tool: "ledger" }]);
  expectSucceeded(await end(runId));
  await lost();
  expect(provider.callsOfRun(runId)).toHaveLength(1);
});
