/** Bad input is kept with its reason and blocks nobody (I13): in one event of ten, good records are done as if they were alone. */
import { expect, it } from "vitest";
import { outboxKey } from "../../shared/keys.ts";
import { putOutbox } from "../../shared/outbox.ts";
import { expectSucceeded, newRunId, openProvider, openStack } from "../support/deployment.ts";
import { waitUntil } from "../support/processes.ts";

const main = await openStack("main");
/** Without a relay nobody but the test delivers a run's messages. */
const unrelayed = await openStack("unrelayed");
const provider = await openProvider();

const allDone = { batchItemFailures: [] };

type Kept = { readonly body: string; readonly source: string; readonly reason: string };
/** The reasons under which these bodies are kept, in their order. */
async function reasonsOf(stack: typeof main | typeof unrelayed, bodies: readonly string[]): Promise<readonly string[]> {
  const found = await waitUntil(
    async () => {
      const kept: readonly Kept[] = await stack.rejected();
      const mine = bodies.map((body) => kept.find((one) => one.body === body));
      return mine.every((one) => one !== undefined) && mine.map((one) => one?.reason ?? "");
    },
    15_000,
    "all bad records to be kept",
  );
  return found;
}

const sqsEvent = (bodies: readonly string[]) => ({
  Records: bodies.map((body, place) => ({
    messageId: `message-${newRunId()}`,
    receiptHandle: `receipt-${place}`,
    body,
    attributes: {},
    messageAttributes: {},
    eventSource: "aws:sqs",
  })),
});

const startOf = (runId: string, more: object = {}) =>
  JSON.stringify({ type: "start_run", run_id: runId, nodes: [{ node_id: "only", tool: "ledger" }], ...more });

const badCommands = (mark: string): readonly (readonly [string, RegExp])[] => [
  [`{"type":"start_run", ${mark}`, /not_json/],
  [JSON.stringify(mark), /body/],
  [JSON.stringify({ type: "start_run", run_id: mark }), /"field":"nodes"/],
  [startOf(mark, { surprise: 1 }), /bad_field.*surprise/],
  [JSON.stringify({ type: "fly", run_id: mark }), /"field":"type"/],
  [JSON.stringify({ type: "cancel_run", run_id: mark }), /no_such_run/],
];

it.each(["through the queue", "in one event of ten"])(
  "bad commands %s are kept with their reasons, and the good ones start",
  async (way) => {
    const bad = badCommands(newRunId());
    const good = Array.from({ length: 4 }, newRunId);
    const bodies = good.flatMap((runId, place) => [
      ...bad.slice(place * 2, place * 2 + 2).map(([body]) => body),
      startOf(runId),
    ]);
    expect(bodies).toHaveLength(10);
    if (way === "through the queue") await main.sendCommands(...bodies);
    else expect(await main.invoke("commands", sqsEvent(bodies))).toEqual(allDone);

    const reasons = await reasonsOf(
      main,
      bad.map(([body]) => body),
    );
    for (const [place, [, expected]] of bad.entries()) expect(reasons[place]).toMatch(expected);
    for (const runId of good) {
      await waitUntil(() => main.client.getRun(runId), 10_000, `run ${runId} to be there`);
      expectSucceeded(await main.end(runId));
    }
  },
);

const messageOf = (runId: string, nodeId: string, more: object = {}) =>
  JSON.stringify({ run_id: runId, node_id: nodeId, dispatch_id: "d-0", ...more });

const badDispatches = (runId: string): readonly (readonly [string, RegExp])[] => [
  [`no JSON, ${runId}`, /JSON/],
  [JSON.stringify({ run_id: runId, node_id: "good-1" }), /dispatch_id/],
  [messageOf(runId, "good-1", { surprise: 1 }), /surprise/],
  [messageOf(runId, "good-1", { dispatch_id: "d-01" }), /dispatch_id/],
  [messageOf(runId, "nobody"), /no node "nobody"/],
  [messageOf(`${runId}-other`, "good-1"), /no node "good-1" in run/],
  [messageOf(runId, ""), /node_id/],
];

const goodNodes = ["good-1", "good-2", "good-3"].map((nodeId) => ({ nodeId, tool: "ledger" }));

it("bad dispatches in one event of ten are kept with their reasons, and the good ones run", async () => {
  const runId = newRunId();
  await unrelayed.start(runId, goodNodes);
  const bad = badDispatches(runId);
  const bodies = [...bad.map(([body]) => body), ...goodNodes.map(({ nodeId }) => messageOf(runId, nodeId))];
  expect(bodies).toHaveLength(10);
  expect(await unrelayed.invoke("worker", sqsEvent(bodies))).toEqual(allDone);

  for (const { nodeId } of goodNodes) expect((await unrelayed.node(runId, nodeId)).status).toBe("SUCCEEDED");
  expect(provider.callsOfRun(runId)).toHaveLength(3);
  const reasons = await reasonsOf(
    unrelayed,
    bad.map(([body]) => body),
  );
  for (const [place, [, expected]] of bad.entries()) expect(reasons[place]).toMatch(expected);
});

it("bad dispatches through the queue are kept with their reasons, and the good ones run", async () => {
  const runId = newRunId();
  await unrelayed.start(runId, goodNodes);
  const bad = badDispatches(runId);
  await unrelayed.sendDispatch(
    ...bad.map(([body]) => body),
    ...goodNodes.map(({ nodeId }) => messageOf(runId, nodeId)),
  );
  const reasons = await reasonsOf(
    unrelayed,
    bad.map(([body]) => body),
  );
  for (const [place, [, expected]] of bad.entries()) expect(reasons[place]).toMatch(expected);
  await waitUntil(async () => (await unrelayed.depth()) === 0, 15_000, "the queues to be empty");
  for (const { nodeId } of goodNodes) expect((await unrelayed.node(runId, nodeId)).status).toBe("SUCCEEDED");
});

/** An item as it is on the wire. */
const wire = (item: object) =>
  Object.fromEntries(
    Object.entries(item).map(([name, value]) => [
      name,
      typeof value === "string" ? { S: value } : typeof value === "number" ? { N: String(value) } : { BOOL: value },
    ]),
  );

/** What the stream brings for an item. */
const streamRecord = (image: object) => ({
  eventID: newRunId(),
  eventName: "INSERT",
  eventSource: "aws:dynamodb",
  dynamodb: { SequenceNumber: String(Math.floor(Math.random() * 1e15)), NewImage: wire(image) },
});

/** Each lacks, or holds wrongly, one thing that the entry's schema asks for. */
function badEntries(runId: string, good: object): readonly (readonly [object, RegExp])[] {
  const { messages: _, ...withoutMessages } = good as Record<string, unknown>;
  return [
    [withoutMessages, /messages/],
    [{ ...good, messages: "no JSON" }, /JSON/],
    [{ ...good, messages: '[["only"]]' }, /./],
    [{ ...good, advances: "{}" }, /./],
    [{ ...good, ordinal: "first" }, /ordinal/],
    [{ ...good, v: 2 }, /v /],
    [{ kind: "outbox", run_id: runId }, /./],
  ];
}

it("bad outbox entries in one event of ten are kept with their reasons, and the good ones are carried out", async () => {
  const runIds = Array.from({ length: 3 }, newRunId);
  const entries: object[] = [];
  for (const runId of runIds) {
    await unrelayed.start(runId, [{ nodeId: "only", tool: "ledger" }]);
    const { generation } = await unrelayed.node(runId, "only");
    const entry = await unrelayed.table.get(outboxKey(runId, generation, "start"));
    if (entry === undefined) throw new Error("the start wrote no outbox entry");
    entries.push(entry);
  }
  const mark = newRunId();
  const bad = badEntries(mark, { ...entries[0], run_id: mark });
  const records = [...bad.map(([image]) => image), ...entries].map(streamRecord);
  expect(records).toHaveLength(10);
  expect(await unrelayed.invoke("relay", { Records: records })).toEqual(allDone);

  const reasons = await reasonsOf(
    unrelayed,
    bad.map(([image]) => JSON.stringify(wire(image))),
  );
  for (const [place, [, expected]] of bad.entries()) expect(reasons[place]).toMatch(expected);
  for (const runId of runIds) {
    await waitUntil(
      async () => (await unrelayed.node(runId, "only")).status === "SUCCEEDED",
      10_000,
      "the node to run",
    );
  }
});

it("a bad outbox entry in the table is kept with its reason, and the stream goes on", async () => {
  const mark = newRunId();
  const good = putOutbox(mark, "no generation", "test", { messages: [] }, Date.now());
  const bad = { ...good, item: { ...good.item, messages: "no JSON" } };
  expect(await main.table.write(bad)).toMatchObject({ is: "applied" });
  const runId = newRunId();
  await main.start(runId, [{ nodeId: "only", tool: "ledger" }]);
  expectSucceeded(await main.end(runId));
  const kept = await waitUntil(
    async () => (await main.rejected()).find((one) => one.body.includes(mark)),
    10_000,
    "the bad entry to be kept",
  );
  expect(kept).toMatchObject({ source: "stream", reason: expect.stringContaining("JSON") });
});
