/** The queue against the emulator. */
import { randomUUID } from "node:crypto";
import { CreateQueueCommand, type Message, ReceiveMessageCommand, type SQSClient } from "@aws-sdk/client-sqs";
import { beforeEach, expect, inject, test } from "vitest";
import { systemChance } from "../../shared/adapters/chance.ts";
import { systemClock } from "../../shared/adapters/clock.ts";
import { sqsClient } from "../../shared/adapters/sqs-client.ts";
import { sqsQueue } from "../../shared/adapters/sqs-queue.ts";
import { fixed } from "../../shared/limits.ts";
import type { Queue } from "../../shared/ports.ts";
import { dispatchTo } from "./dispatches.ts";
import { local } from "./emulator-table.ts";

let client: SQSClient;
let dispatchUrl: string;
let rejectedUrl: string;
let queue: Queue;

async function makeQueue(): Promise<string> {
  const { QueueUrl } = await client.send(
    new CreateQueueCommand({
      QueueName: `contract-${randomUUID()}`,
      Attributes: { MaximumMessageSize: String(fixed.messageBytes) },
    }),
  );
  return QueueUrl ?? "";
}

beforeEach(async () => {
  client = sqsClient({ endpoint: inject("endpoint"), ...local });
  dispatchUrl = await makeQueue();
  rejectedUrl = await makeQueue();
  queue = sqsQueue({ client, dispatchUrl, rejectedUrl, clock: systemClock, chance: systemChance });
});

/** Everything that is visible now; what was taken stays hidden for a minute. */
async function take(queueUrl: string): Promise<readonly Message[]> {
  const taken: Message[] = [];
  for (;;) {
    const { Messages = [] } = await client.send(
      new ReceiveMessageCommand({
        QueueUrl: queueUrl,
        MaxNumberOfMessages: 10,
        MessageAttributeNames: ["All"],
        VisibilityTimeout: 60,
      }),
    );
    if (Messages.length === 0) return taken;
    taken.push(...Messages);
  }
}

const attributesOf = (message: Message | undefined): Record<string, string | undefined> =>
  Object.fromEntries(
    Object.entries(message?.MessageAttributes ?? {}).map(([name, value]) => [name, value.StringValue]),
  );
const partOf = (message: Message): number => Number.parseInt(attributesOf(message).part ?? "1", 10);

test("every message arrives with the id it was sent with, however odd, and a delayed one not yet", async () => {
  const ids = [
    "fetch:page#1",
    "шаг",
    "\u{1f600}".repeat(64),
    "a b",
    "a_b",
    "\ufffe\u2028\u0000",
    ...Array.from({ length: 20 }, (_, n) => `n${n}`),
  ];
  const messages = ids.map((id) => ({ dispatch: dispatchTo(id), delayMs: 0 }));
  expect(await queue.send([...messages, { dispatch: dispatchTo("later"), delayMs: 60_000 }])).toEqual([]);
  const found = (await take(dispatchUrl)).map((message) => JSON.parse(message.Body ?? ""));
  expect(found.map((body) => body.node_id).sort()).toEqual([...ids].sort());
  expect(found[0]).toEqual(dispatchTo(found[0].node_id));
});

test("a hidden message comes back when its time is over, at once for none", async () => {
  await queue.send([{ dispatch: dispatchTo("n"), delayMs: 0 }]);
  const [message] = await take(dispatchUrl);
  expect(await take(dispatchUrl)).toEqual([]);
  await queue.hide(message?.ReceiptHandle ?? "", 0);
  expect(await take(dispatchUrl)).toHaveLength(1);
});

test("a rejected body is kept unchanged, with its source and reason beside it", async () => {
  const body = '{ "node_id":  "шаг\u{1f600}" , \n oops';
  await queue.reject({ body, source: "dispatch queue", reason: "not JSON: \u0000 \ud800 at 4" });
  const [message] = await take(rejectedUrl);
  expect(message?.Body).toBe(body);
  expect(attributesOf(message)).toEqual({
    rejection_id: expect.stringMatching(/^[\w-]{22}$/),
    source: "dispatch queue",
    reason: "not JSON: \ufffd \ufffd at 4",
  });
});

test.each([
  ["of ASCII", "x".repeat(fixed.messageBytes)],
  ["of emoji, one byte out of step", `x${"\u{1f600}".repeat(fixed.messageBytes / 4 - 1)}yyy`],
])("a rejected body %s, as long as a message can be, is kept in two parts that make the whole", async (_, body) => {
  await queue.reject({ body, source: "s", reason: "r".repeat(5_000) });
  const parts = [...(await take(rejectedUrl))].sort((left, right) => partOf(left) - partOf(right));
  expect(parts.map((part) => attributesOf(part).part)).toEqual(["1/2", "2/2"]);
  expect(new Set(parts.map((part) => attributesOf(part).rejection_id)).size).toBe(1);
  expect(parts.map((part) => part.Body).join("") === body).toBe(true);
});

test.each([[""], ["\u0000\u000b"], ["\ufffe"], ["\ud800x"]])(
  "the body %j, which SQS refuses, is kept as JSON text and marked so",
  async (body) => {
    await queue.reject({ body, source: "", reason: "" });
    const [message] = await take(rejectedUrl);
    expect(attributesOf(message)).toMatchObject({ escaped: "true", source: "-", reason: "-" });
    expect(JSON.parse(message?.Body ?? "")).toBe(body);
  },
);

test("a rejection that could not be kept is thrown", async () => {
  const missing = sqsQueue({ client, rejectedUrl: `${rejectedUrl}-gone`, clock: systemClock, chance: systemChance });
  await expect(missing.reject({ body: "b", source: "s", reason: "r" })).rejects.toThrow();
});
