/** Messages to the queues of several pools, answered by a loopback door with nothing behind it. */
import { createHash } from "node:crypto";
import { afterEach, beforeEach, expect, test } from "vitest";
import { sqsHeartbeatClient } from "../../../shared/adapters/sqs-client.ts";
import { sqsQueue } from "../../../shared/adapters/sqs-queue.ts";
import type { Outgoing } from "../../../shared/ports.ts";
import { dispatchTo, halfChance, namesOf, quickClock } from "../../contract/dispatches.ts";
import { type Answer, type Call, type Door, failure, openDoor } from "../../contract/door.ts";

let door: Door;
beforeEach(async () => {
  door = await openDoor();
});
afterEach(() => door.close());

const urlOf = (queue: string): string => `${door.endpoint}/000000000000/${queue}`;

function setup() {
  const logged: unknown[] = [];
  const note = (message: string, fields?: object): void => void logged.push({ message, ...fields });
  const queue = sqsQueue({
    client: sqsHeartbeatClient({
      endpoint: door.endpoint,
      region: "us-east-1",
      credentials: { accessKeyId: "test", secretAccessKey: "test" },
    }),
    dispatchUrl: urlOf("main"),
    poolUrls: { heavy: urlOf("heavy"), gpu: urlOf("gpu") },
    clock: quickClock(),
    chance: halfChance,
    log: { debug: note, info: note, warn: note, error: note },
  });
  return { queue, logged };
}

const queueOf = (call: Call): string => JSON.parse(call.body).QueueUrl.split("/").at(-1);
const entriesOf = (call: Call): readonly { readonly Id: string; readonly MessageBody: string }[] =>
  JSON.parse(call.body).Entries;
const bodiesOf = (call: Call) => entriesOf(call).map((entry) => JSON.parse(entry.MessageBody));

/** Accepts everything, but what is sent to the queue that is down. */
const accepting =
  (down?: string) =>
  (call: Call): Answer =>
    queueOf(call) === down
      ? failure(403, "AccessDenied")
      : {
          status: 200,
          body: {
            Successful: entriesOf(call).map(({ Id, MessageBody }) => ({
              Id,
              MessageId: `m-${Id}`,
              MD5OfMessageBody: createHash("md5").update(MessageBody).digest("hex"),
            })),
          },
        };
const answers = (count: number, down?: string) => Array.from({ length: count }, () => accepting(down));

const to = (pool: string | undefined, count: number, name = pool ?? "main"): readonly Outgoing[] =>
  Array.from({ length: count }, (_, n) => ({ dispatch: dispatchTo(`${name}-${n}`), delayMs: 0, pool }));
/** One of each in turn, as a commit's entry may list them. */
const mixed = (...lists: readonly (readonly Outgoing[])[]): readonly Outgoing[] =>
  Array.from({ length: Math.max(...lists.map((list) => list.length)) }, (_, n) => n).flatMap((n) =>
    lists.flatMap((list) => list.slice(n, n + 1)),
  );

test("messages of several pools go each to its queue, ten at a time there, and say nothing of the pool", async () => {
  const { queue, logged } = setup();
  door.next(...answers(6));
  expect(await queue.send(mixed(to(undefined, 12), to("heavy", 11), to("gpu", 1)))).toEqual([]);
  expect(door.calls.map((call) => [queueOf(call), entriesOf(call).length])).toEqual([
    ["main", 10],
    ["main", 2],
    ["heavy", 10],
    ["heavy", 1],
    ["gpu", 1],
  ]);
  for (const call of door.calls) {
    for (const body of bodiesOf(call)) {
      expect(body.node_id).toMatch(new RegExp(`^${queueOf(call)}-`));
      expect(Object.keys(body)).toEqual(["run_id", "node_id", "dispatch_id"]);
    }
  }
  expect(logged).toEqual([]);
});

test("a pool without a queue has its messages sent to the main one, in batches with that one's own, and that is told once", async () => {
  const { queue, logged } = setup();
  door.next(...answers(3));
  expect(await queue.send(mixed(to(undefined, 4), to("gone", 3), to("constructor", 3)))).toEqual([]);
  expect(door.calls.map((call) => [queueOf(call), entriesOf(call).length])).toEqual([["main", 10]]);
  expect(logged).toEqual([
    { message: expect.stringContaining("no queue"), pool: "gone", count: 3 },
    { message: expect.stringContaining("no queue"), pool: "constructor", count: 3 },
  ]);
});

test("a pool's queue that refuses is given up after two calls, and its messages alone come back", async () => {
  const { queue } = setup();
  door.next(...answers(9, "heavy"));
  const heavy = to("heavy", 45);
  const unsent = await queue.send(mixed(to("gpu", 25), heavy, to(undefined, 15)));
  expect(unsent).toEqual(heavy);
  expect(door.calls.map(queueOf)).toEqual(["gpu", "gpu", "gpu", "heavy", "heavy", "main", "main"]);
});

test("one failed call at the end of a queue and one at the start of the next stop neither", async () => {
  const { queue } = setup();
  const once = failure(403, "AccessDenied");
  door.next(accepting(), once, once, accepting());
  const unsent = await queue.send([...to("heavy", 20), ...to("gpu", 20)]);
  expect(namesOf(unsent)).toEqual(namesOf([...to("heavy", 20).slice(10), ...to("gpu", 20).slice(0, 10)]));
  expect(door.calls.map(queueOf)).toEqual(["heavy", "heavy", "gpu", "gpu"]);
});

test("what comes back unsent still knows its pool, so that it is sent there the next time", async () => {
  const { queue } = setup();
  door.next(...answers(1, "heavy"));
  const unsent = await queue.send(to("heavy", 2));
  door.next(...answers(1));
  expect(await queue.send(unsent)).toEqual([]);
  expect(queueOf(door.calls.at(-1) ?? { target: "", body: "" })).toBe("heavy");
});

test("a worker hides its message in the queue that it reads, which is its dispatch queue", async () => {
  const { queue } = setup();
  door.next({ status: 200, body: {} });
  await queue.hide("receipt", 1_000);
  expect(door.calls.map(queueOf)).toEqual(["main"]);
});
