/** Faults injected below the table's adapter, between it and the emulator. */
import { afterEach, beforeAll, beforeEach, describe, expect, inject, test } from "vitest";
import { dynamoClient, dynamoHeartbeatClient } from "../../shared/adapters/dynamo-client.ts";
import { dynamoTable } from "../../shared/adapters/dynamo-table.ts";
import type { Table } from "../../shared/ports.ts";
import type { Key, Update } from "../../shared/write.ts";
import { type Answer, type Door, failure, openDoor, type Step } from "./door.ts";
import { emulatorTable, local } from "./emulator-table.ts";
import { freshKey, put, update } from "./table-contract.ts";

let tableName: string;
let straight: Table;
let door: Door;

beforeAll(async () => {
  const made = await emulatorTable(inject("endpoint"));
  tableName = made.tableName;
  straight = dynamoTable(made);
});
beforeEach(async () => {
  door = await openDoor(inject("endpoint"));
});
afterEach(() => door.close());

/** The SDK tries once, so that each answer is seen as it is. */
const onceTable = (): Table =>
  dynamoTable({ client: dynamoHeartbeatClient({ endpoint: door.endpoint, ...local }), tableName });
/** The SDK repeats what it repeats. */
const plainTable = (): Table => dynamoTable({ client: dynamoClient({ endpoint: door.endpoint, ...local }), tableName });

const claim = (key: Key, claimId: string): Update =>
  update(key, {
    set: { status: "RUNNING", claim_id: claimId },
    conditions: [{ attr: "status", is: "equal", value: "READY" }],
  });

async function readyNode(): Promise<Key> {
  const key = freshKey("NODE#a");
  await straight.write(put(key, { status: "READY" }));
  return key;
}

const throttled = failure(400, "ThrottlingException");
const cancelled = (...codes: readonly string[]): Answer =>
  failure(400, "TransactionCanceledException", {
    CancellationReasons: codes.map((Code) =>
      Code === "ConditionalCheckFailed"
        ? { Code, Message: "no", Item: { pk: { S: "p" }, n: { N: "7" }, ok: { BOOL: true }, set: { NS: ["2", "1"] } } }
        : { Code, ...(Code !== "None" && { Message: `injected ${Code}` }) },
    ),
  });

describe("one answer to a single write", () => {
  test.each<[string, Step]>([
    ["TransactionConflictException", failure(400, "TransactionConflictException")],
    ["ThrottlingException", throttled],
    ["ProvisionedThroughputExceededException", failure(400, "ProvisionedThroughputExceededException")],
    ["RequestLimitExceeded", failure(400, "RequestLimitExceeded")],
  ])("%s is busy: not applied, to be sent again", async (_, step) => {
    const key = await readyNode();
    door.next(step);
    expect((await onceTable().write(claim(key, "c"))).is).toBe("busy");
    expect(await straight.get(key)).toEqual({ ...key, status: "READY" });
    expect((await onceTable().write(claim(key, "c"))).is).toBe("applied");
  });

  test.each<[string, Step]>([
    ["InternalServerError", failure(500, "InternalServerError")],
    ["a bare 503", { status: 503, body: {} }],
    ["an unnamed 502", { status: 502, body: "bad gateway" }],
    ["TransactionInProgressException", failure(400, "TransactionInProgressException")],
    ["a broken socket", "reset"],
    ["an answer that never comes", "stall"],
    ["an answer that was lost", "lose"],
    ["an answer that was cut", "cut"],
    ["an answer that cannot be read", "garble"],
  ])("%s is unknown: the same claim sent again is applied, or refused with the own mark", async (_, step) => {
    const key = await readyNode();
    door.next(step);
    expect((await onceTable().write(claim(key, "mine"))).is).toBe("unknown");
    const applied = (await straight.get(key))?.claim_id === "mine";
    const again = await onceTable().write(claim(key, "mine"));
    if (applied) expect(again).toEqual({ is: "refused", old: { ...key, status: "RUNNING", claim_id: "mine" } });
    else expect(again).toEqual({ is: "applied", item: { ...key, status: "RUNNING", claim_id: "mine" } });
    expect(applied).toBe(step === "lose" || step === "cut" || step === "garble");
  });

  test("a server that is not there makes the write unknown and a read throw", async () => {
    const key = await readyNode();
    const table = onceTable();
    await door.close();
    expect((await table.write(claim(key, "c"))).is).toBe("unknown");
    await expect(table.get(key)).rejects.toThrow();
    door = await openDoor();
  });

  test.each<[string, Step]>([
    ["AccessDeniedException", failure(400, "AccessDeniedException")],
    ["ValidationException", failure(400, "ValidationException")],
    ["ResourceNotFoundException", failure(400, "ResourceNotFoundException")],
    ["IdempotentParameterMismatchException", failure(400, "IdempotentParameterMismatchException")],
    ["ExpiredTokenException", failure(400, "ExpiredTokenException")],
    ["UnrecognizedClientException", failure(400, "UnrecognizedClientException")],
  ])("%s is thrown: no state would have helped", async (name, step) => {
    const key = await readyNode();
    door.next(step, step);
    await expect(onceTable().write(claim(key, "c"))).rejects.toThrow(name);
    await expect(onceTable().transact([claim(key, "c")])).rejects.toThrow(name);
  });

  test("a stored attribute of a kind that is never written is thrown by name, not guessed at", async () => {
    const key = await readyNode();
    const item = { pk: { S: key.pk }, sk: { S: key.sk }, strange: { L: [] } };
    const refusal = failure(400, "ConditionalCheckFailedException", { Item: item });
    door.next({ status: 200, body: { Item: item } }, refusal);
    await expect(onceTable().get(key)).rejects.toThrow("strange");
    await expect(onceTable().write(claim(key, "c"))).rejects.toThrow("strange");
  });
});

describe("one answer to a transaction", () => {
  const three = (): readonly Update[] => ["a", "b", "c"].map((id) => claim(freshKey(`NODE#${id}`), id));

  test.each<[string, readonly string[]]>([
    ["a conflict alone", ["None", "TransactionConflict", "None"]],
    ["a conflict beside a refusal", ["ConditionalCheckFailed", "TransactionConflict", "None"]],
    ["a throttle beside a refusal", ["ConditionalCheckFailed", "None", "ThrottlingError"]],
    ["a hot key", ["ProvisionedThroughputExceeded", "None", "None"]],
    ["a conflict beside a fault", ["TransactionConflict", "ValidationError", "None"]],
  ])("%s makes the whole busy, and it was sent once", async (_, codes) => {
    door.next(cancelled(...codes));
    expect((await plainTable().transact(three())).is).toBe("busy");
    expect(door.calls).toHaveLength(1);
  });

  test("refusals alone are refused, each in its place with its old item", async () => {
    door.next(cancelled("ConditionalCheckFailed", "None", "ConditionalCheckFailed"));
    const old = { pk: "p", n: 7, ok: true, set: new Set([1, 2]) };
    expect(await plainTable().transact(three())).toEqual({
      is: "refused",
      refusals: [{ is: "refused", old }, null, { is: "refused", old }],
    });
  });

  test.each<[string, readonly string[], string]>([
    ["a fault beside a refusal", ["ConditionalCheckFailed", "ValidationError", "None"], "ValidationError"],
    ["a full item collection", ["None", "None", "ItemCollectionSizeLimitExceeded"], "ItemCollectionSizeLimitExceeded"],
    ["a code nobody knows", ["Novelty", "None", "None"], "Novelty"],
    ["no reason at all", ["None", "None", "None"], "without a reason"],
    ["too few reasons", ["None", "ConditionalCheckFailed"], "2 reasons"],
  ])("%s is thrown and says so", async (_, codes, says) => {
    door.next(cancelled(...codes));
    await expect(plainTable().transact(three())).rejects.toThrow(says);
  });
});

describe("the SDK's own repeats", () => {
  test("a throttle that lasts is busy after three tries", async () => {
    const key = await readyNode();
    door.next(throttled, throttled, throttled);
    expect((await plainTable().write(claim(key, "c"))).is).toBe("busy");
    expect(door.calls).toHaveLength(3);
  });

  test("a single write whose answer was lost is repeated, and the refusal shows the own mark", async () => {
    const key = await readyNode();
    door.next("lose");
    expect(await plainTable().write(claim(key, "mine"))).toEqual({
      is: "refused",
      old: { ...key, status: "RUNNING", claim_id: "mine" },
    });
    expect(door.calls).toHaveLength(2);
  });

  test("a lost answer followed by throttles or a conflict is unknown, never busy, since the write was applied", async () => {
    const key = await readyNode();
    door.next("lose", throttled, throttled);
    expect((await plainTable().write(claim(key, "mine"))).is).toBe("unknown");
    expect((await straight.get(key))?.claim_id).toBe("mine");
    const other = await readyNode();
    door.next("lose", failure(400, "TransactionConflictException"));
    expect((await plainTable().write(claim(other, "mine"))).is).toBe("unknown");
    door.next("reset", cancelled("TransactionConflict"));
    expect((await plainTable().transact([claim(other, "mine")])).is).toBe("unknown");
  });

  test("a transaction whose answer was lost is repeated under its token and applied once", async () => {
    const key = await readyNode();
    await straight.write(update(key, { set: { count: 0 } }));
    door.next("lose");
    expect(await plainTable().transact([update(key, { add: { count: 1 } })])).toEqual({ is: "applied" });
    expect(door.calls).toHaveLength(2);
    expect((await straight.get(key))?.count).toBe(1);
  });

  test("a transaction lost for good is unknown, and sent again it is refused with the own marks", async () => {
    const keys = [await readyNode(), await readyNode()];
    const commit = keys.map((key) => claim(key, "mine"));
    door.next("lose");
    expect((await onceTable().transact(commit)).is).toBe("unknown");
    expect(await onceTable().transact(commit)).toEqual({
      is: "refused",
      refusals: keys.map((key) => ({ is: "refused", old: { ...key, status: "RUNNING", claim_id: "mine" } })),
    });
  });

  test("a read is repeated over a broken socket, and a query comes in all its pages", async () => {
    const key = await readyNode();
    door.next("reset");
    expect(await plainTable().get(key)).toEqual({ ...key, status: "READY" });
    const page = (sk: string, more: boolean): Answer => ({
      status: 200,
      body: {
        Items: [{ pk: { S: "p" }, sk: { S: sk } }],
        ...(more && { LastEvaluatedKey: { pk: { S: "p" }, sk: { S: sk } } }),
      },
    });
    door.next(
      page("a", true),
      { ...page("", true), body: { Items: [], LastEvaluatedKey: { pk: { S: "p" } } } },
      page("c", false),
    );
    expect(await plainTable().query("p", "")).toEqual([
      { pk: "p", sk: "a" },
      { pk: "p", sk: "c" },
    ]);
    expect(door.calls.slice(-3).every((call) => call.body.includes('"ConsistentRead":true'))).toBe(true);
  });

  test("due runs are read page by page, and no page further than asked for", async () => {
    const page = (pk: string): Answer => ({
      status: 200,
      body: { Items: [{ pk: { S: pk } }], LastEvaluatedKey: { pk: { S: pk }, sk: { S: "RUN" } } },
    });
    door.next(page("a"), page("b"), page("c"));
    expect(await plainTable().dueRuns(0, 1, 2)).toEqual(["a", "b"]);
    expect(door.calls).toHaveLength(2);
    expect(await plainTable().dueRuns(0, 1, 0)).toEqual([]);
  });
});
