/** Public reports of faults (docs/scenarios.md) tried on whole events, as AWS hands them in. */
import type { AttributeValue, DynamoDBRecord, SQSEvent, SQSRecord } from "aws-lambda";
import { expect, test } from "vitest";
import { relayHandler } from "../../../functions/events/relay.ts";
import { workerHandler } from "../../../functions/events/worker.ts";
import { putOutbox } from "../../../shared/outbox.ts";
import type { Item } from "../../../shared/write.ts";
import { itemOf, nodeWith, runWith, startMs, testLimits, testWorld, toolsOf, toolWith } from "../../support/world.ts";

const messageRecord = (messageId: string, body: string): SQSRecord => ({
  messageId,
  receiptHandle: `receipt-${messageId}`,
  body,
  attributes: {
    ApproximateReceiveCount: "1",
    SentTimestamp: "0",
    SenderId: "s",
    ApproximateFirstReceiveTimestamp: "0",
  },
  messageAttributes: {},
  md5OfBody: "",
  eventSource: "aws:sqs",
  eventSourceARN: "arn:aws:sqs:eu-central-1:000000000000:q",
  awsRegion: "eu-central-1",
});

const wire = (item: Item): Record<string, AttributeValue> =>
  Object.fromEntries(
    Object.entries(item).map(([name, value]) => [
      name,
      typeof value === "string" ? { S: value } : typeof value === "boolean" ? { BOOL: value } : { N: String(value) },
    ]),
  );
const entryRecord = (nodeId: string, eventName: "INSERT" | "MODIFY"): DynamoDBRecord => {
  const messages = [{ nodeId, dispatchId: "d-0", notBeforeMs: 0 }];
  const { key, item } = putOutbox("r", "g", nodeId, { messages }, startMs);
  return { eventName, dynamodb: { SequenceNumber: nodeId, NewImage: wire({ ...key, ...item }) } };
};

test("a batch of ten that comes whole three times more, for its one bad record, has no second effect (BUG-015)", async () => {
  const ids = Array.from({ length: 10 }, (_, index) => `n${index}`);
  const world = testWorld(
    ...ids.map((node_id, ordinal) => itemOf(nodeWith({ node_id, ordinal }))),
    itemOf(runWith({ waiting_on: new Set(ids.keys()) })),
  );
  const effects: string[] = [];
  const tool = toolWith({
    execute: async (_input, { nodeId }) => {
      effects.push(nodeId);
      return {};
    },
  });
  const handle = workerHandler({
    ...world,
    limits: testLimits(),
    namespace: "n",
    tools: toolsOf(tool),
    pulse: world,
    endProcess: () => Promise.reject(new Error("ended")),
  });
  // The bad one cannot be claimed, whatever the try.
  const table = world.table;
  const write = table.write;
  const struck: typeof write = (one) =>
    one.key.sk === "NODE#n6" ? Promise.reject(new Error("n6 is poison")) : write(one);
  Object.assign(table, { write: struck });
  const Records = ids.map((id) =>
    messageRecord(`m-${id}`, JSON.stringify({ run_id: "r", node_id: id, dispatch_id: "d-0" })),
  );
  const event: SQSEvent = { Records };
  for (let delivery = 0; delivery < 4; delivery++) {
    const answer = await world.clock.during(handle(event, { getRemainingTimeInMillis: () => 300_000 }));
    expect(answer).toEqual({ batchItemFailures: [{ itemIdentifier: "m-n6" }] });
  }
  expect(effects).toEqual(ids.filter((id) => id !== "n6"));
});

test.each(["INSERT", "MODIFY"] as const)(
  "an entry is carried out, whether its event is called %s or not (BUG-191)",
  async (name) => {
    const world = testWorld();
    expect(await relayHandler(world)({ Records: [entryRecord("a", name)] })).toEqual({ batchItemFailures: [] });
    expect(world.queue.sent).toMatchObject([{ dispatch: { node_id: "a" } }]);
  },
);

test("a hundred records at once make no more calls side by side than a pool of 50 sockets has room for (BUG-172)", async () => {
  const world = testWorld();
  let now = 0;
  let most = 0;
  const send = world.queue.send;
  const queue = {
    ...world.queue,
    send: async (messages: Parameters<typeof send>[0]) => {
      now += 1;
      most = Math.max(most, now);
      await new Promise((resolve) => setImmediate(resolve));
      now -= 1;
      return send(messages);
    },
  };
  const records = Array.from({ length: 100 }, (_, index) => entryRecord(`n${index}`, "INSERT"));
  expect(await relayHandler({ ...world, queue })({ Records: records })).toEqual({ batchItemFailures: [] });
  expect(world.queue.sent).toHaveLength(100);
  expect(most).toBeGreaterThan(1);
  expect(most).toBeLessThan(50);
});
