/** Faults of SQS, answered by a loopback door with nothing behind it. */
import { createHash } from "node:crypto";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { sqsHeartbeatClient } from "../../shared/adapters/sqs-client.ts";
import { sqsQueue } from "../../shared/adapters/sqs-queue.ts";
import { dispatchTo, halfChance, namesOf, outgoing, quickClock } from "./dispatches.ts";
import { type Answer, type Call, type Door, failure, openDoor, type Step } from "./door.ts";
import { local } from "./emulator-table.ts";

let door: Door;
beforeEach(async () => {
  door = await openDoor();
});
afterEach(() => door.close());

function setup() {
  const clock = quickClock();
  const logged: string[] = [];
  const note = (message: string, fields?: object): void => {
    logged.push(`${message} ${JSON.stringify(fields)}`);
  };
  const queue = sqsQueue({
    client: sqsHeartbeatClient({ endpoint: door.endpoint, ...local }),
    dispatchUrl: `${door.endpoint}/000000000000/dispatch`,
    clock,
    chance: halfChance,
    log: { debug: note, info: note, warn: note, error: note },
  });
  return { queue, clock, logged };
}

type Entry = { readonly Id: string; readonly MessageBody: string; readonly DelaySeconds: number };
const entriesOf = (call: Call): readonly Entry[] => JSON.parse(call.body).Entries;
const nodeOf = (entry: Entry): string => JSON.parse(entry.MessageBody).node_id;

/** An HTTP 200 in which the entries of the nodes named are failed. */
const accepting =
  (failed: readonly string[] = [], senderFault = false): ((call: Call) => Answer) =>
  (call) => ({
    status: 200,
    body: {
      Successful: entriesOf(call)
        .filter((entry) => !failed.includes(nodeOf(entry)))
        .map((entry) => ({
          Id: entry.Id,
          MessageId: `m-${entry.Id}`,
          MD5OfMessageBody: createHash("md5").update(entry.MessageBody).digest("hex"),
        })),
      Failed: entriesOf(call)
        .filter((entry) => failed.includes(nodeOf(entry)))
        .map((entry) => ({
          Id: entry.Id,
          Code: senderFault ? "InvalidMessageContents" : "InternalError",
          SenderFault: senderFault,
        })),
    },
  });
const times = (count: number, step: Step): readonly Step[] => Array.from({ length: count }, () => step);

describe("sending", () => {
  test("35 messages, three failing in the second batch and the third batch failing whole: exactly those 13 are returned (BUG-051)", async () => {
    const { queue, logged } = setup();
    door.next(accepting(), ...times(4, accepting(["n-11", "n-14", "n-19"])), failure(403, "AccessDenied"), accepting());
    const unsent = await queue.send(outgoing(35));
    expect(namesOf(unsent)).toEqual(["n-11", "n-14", "n-19", ...Array.from({ length: 10 }, (_, n) => `n-${20 + n}`)]);
    expect(door.calls.map((call) => entriesOf(call).length)).toEqual([10, 10, 3, 3, 3, 10, 5]);
    expect(logged.join()).toContain("AccessDenied");
  });

  test("entries that failed for a while are sent again, alone and with growing pauses, until they are accepted", async () => {
    const { queue, clock } = setup();
    door.next(accepting(["n-1", "n-2"]), accepting(["n-2"]), accepting());
    expect(await queue.send(outgoing(4))).toEqual([]);
    expect(door.calls.map((call) => entriesOf(call).map(nodeOf))).toEqual([
      ["n-0", "n-1", "n-2", "n-3"],
      ["n-1", "n-2"],
      ["n-2"],
    ]);
    expect(clock.slept).toEqual([50, 100]);
  });

  test("an entry that is the sender's fault is returned, not sent again, and stops no neighbour", async () => {
    const { queue, logged } = setup();
    door.next(accepting(["n-1"], true));
    expect(namesOf(await queue.send(outgoing(3)))).toEqual(["n-1"]);
    expect(door.calls).toHaveLength(1);
    expect(logged.join()).toContain("InvalidMessageContents");
  });

  test("an entry that the answer does not name counts as not accepted", async () => {
    const { queue } = setup();
    door.next(...times(4, { status: 200, body: {} }));
    expect(namesOf(await queue.send(outgoing(2)))).toEqual(["n-0", "n-1"]);
  });

  test.each<[string, Step]>([
    ["a broken socket", "reset"],
    ["a server error", failure(500, "InternalError")],
    ["a missing queue", failure(400, "QueueDoesNotExist")],
    ["a throttle", failure(400, "ThrottlingException")],
  ])("after %s twice in a row the rest is returned unsent, without an exception", async (_, step) => {
    const { queue } = setup();
    door.next(accepting(), step, step);
    expect(await queue.send(outgoing(45))).toHaveLength(35);
    expect(door.calls).toHaveLength(3);
  });

  test("one failing call between good ones stops nothing", async () => {
    const { queue } = setup();
    door.next("reset", accepting(), "reset", accepting());
    expect(await queue.send(outgoing(40))).toHaveLength(20);
  });

  test.each([
    [-5, 0],
    [0, 0],
    [1, 1],
    [1_000, 1],
    [1_001, 2],
    [900_000, 900],
    [5_000_000, 900],
  ])("a delay of %i ms is sent as %i whole seconds", async (delayMs, seconds) => {
    const { queue } = setup();
    door.next(accepting());
    expect(await queue.send(outgoing(1, delayMs))).toEqual([]);
    expect(door.calls.flatMap(entriesOf).map((entry) => entry.DelaySeconds)).toEqual([seconds]);
  });

  test("odd ids become neither entry ids nor raw characters of a body, and read back the same (BUG-054, BUG-064)", async () => {
    const { queue } = setup();
    const ids = [
      "fetch:page#1",
      "шаг",
      "x".repeat(300),
      "a b",
      "a_b",
      "\u0000\u000b\ufffe\uffff\u2028",
      "\u{1f600}",
      "\ud800",
    ];
    door.next(accepting());
    expect(await queue.send(ids.map((id) => ({ dispatch: dispatchTo(id), delayMs: 0 })))).toEqual([]);
    const entries = door.calls.flatMap(entriesOf);
    expect(entries.map((entry) => entry.Id)).toEqual(ids.map((_, place) => String(place)));
    expect(entries.map(nodeOf)).toEqual(ids);
    for (const entry of entries) expect(entry.MessageBody).toMatch(/^[\x20-\x7e]+$/);
  });

  test("nothing to send calls nobody", async () => {
    const { queue } = setup();
    expect(await queue.send([])).toEqual([]);
    expect(door.calls).toEqual([]);
  });
});

describe("hiding", () => {
  test.each([
    [-1, 0],
    [1, 1],
    [31_500, 32],
    [50_000_000, 43_200],
  ])("%i ms are sent as %i whole seconds", async (forMs, seconds) => {
    const { queue } = setup();
    door.next({ status: 200, body: {} });
    await queue.hide("receipt", forMs);
    expect(door.calls.map((call) => JSON.parse(call.body).VisibilityTimeout)).toEqual([seconds]);
  });

  test("a no of the queue is thrown", async () => {
    const { queue } = setup();
    door.next(failure(400, "ReceiptHandleIsInvalid"));
    await expect(queue.hide("receipt", 1_000)).rejects.toThrow();
  });
});

test("a call that needs a queue which was not given names the setting", async () => {
  const client = sqsHeartbeatClient({ endpoint: door.endpoint, ...local });
  const queue = sqsQueue({ client, clock: quickClock(), chance: halfChance });
  await expect(queue.send(outgoing(1))).rejects.toThrow("dispatchUrl");
  await expect(queue.hide("receipt", 1)).rejects.toThrow("dispatchUrl");
  await expect(queue.reject({ body: "b", source: "s", reason: "r" })).rejects.toThrow("rejectedUrl");
  expect(door.calls).toEqual([]);
});
