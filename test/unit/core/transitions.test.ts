import { describe, expect, test } from "vitest";
import { holdAll } from "../../../shared/adapters/condition.ts";
import { type Dependent, type NodeItem, type RunItem, runStatusSchema } from "../../../shared/model.ts";
import {
  advance,
  advanceRun,
  claim,
  claimToReconcile,
  dispatchIdAt,
  type EndNode,
  endNode,
  endRun,
  enterDoubt,
  hasEarlierOpenAttempt,
  hasOpenAttempt,
  heartbeat,
  type Inline,
  inDoubtAt,
  keyText,
  makeReady,
  moveScan,
  noRecord,
  ownedAt,
  putBeside,
  requestCancel,
  requeue,
  resolveNotDone,
  runResult,
  skip,
  wakeRun,
} from "../../../shared/transitions.ts";
import type { Condition, Item, Write } from "../../../shared/write.ts";
import { itemOf, nodeWith, pendingWith, runningWith, runWith, startMs, testWorld } from "../../support/world.ts";

const request = (part: Partial<Parameters<typeof claim>[0]> = {}) => ({
  runId: "r",
  nodeId: "a",
  dispatchId: "d-0",
  claimId: "c-new",
  messageId: "m-new",
  nowMs: startMs,
  leaseMs: 30_000,
  skewMs: 2_000,
  remainingMs: 300_000.9,
  carefree: ["other", "work"],
  careful: ["careful"],
  ...part,
});

const allows = (conditions: readonly Condition[], item: NodeItem | RunItem): boolean =>
  holdAll(conditions, itemOf(item));
const entryOf = (writes: readonly Write[]): Item | undefined =>
  writes.flatMap((write) => (write.op === "put" && write.name === "outbox" ? [write.item] : []))[0];
const names = (writes: readonly Write[]): string[] => writes.map((write) => write.name);

describe("a claim", () => {
  test("raises the epoch, counts the attempt and sets the lease in one write (I3, I6)", async () => {
    const { table, node } = testWorld(itemOf(nodeWith({ epoch: 2, attempts_used: 1, dispatch_id: "d-2" })));
    expect(await table.write(claim(request({ dispatchId: "d-2" })))).toMatchObject({ is: "applied" });
    expect(await node("a")).toMatchObject({
      status: "RUNNING",
      epoch: 3,
      attempts_used: 2,
      claim_id: "c-new",
      message_id: "m-new",
      lease_expires_at_ms: startMs + 30_000,
      owner_dead_at_ms: startMs + 302_000,
      open_since_ms: startMs,
      dispatch_id: "d-2",
    });
  });

  test("keeps the claim time of the oldest open attempt", async () => {
    const { table, node } = testWorld(itemOf(nodeWith({ open_since_ms: startMs - 9 })));
    await table.write(claim(request()));
    expect((await node("a")).open_since_ms).toBe(startMs - 9);
  });

  test("takes over only when the lease has ended beyond the skew bound", () => {
    const ended = runningWith({ lease_expires_at_ms: startMs - 2_001 });
    expect(allows(claim(request()).conditions, ended)).toBe(true);
    expect(allows(claim(request()).conditions, { ...ended, lease_expires_at_ms: startMs - 2_000 })).toBe(false);
    expect(allows(claim(request()).conditions, { ...ended, claim_id: "c-new" })).toBe(false);
  });

  const ready = nodeWith();
  const oldLease = { lease_expires_at_ms: startMs - 90_000, claim_id: "c-old" };
  test.each<[string, NodeItem, boolean]>([
    ["a READY node that is due", ready, true],
    ["one due just now", { ...ready, not_before_ms: startMs }, true],
    ["one due in a millisecond", { ...ready, not_before_ms: startMs + 1 }, false],
    ["another dispatch", { ...ready, dispatch_id: "d-1" }, false],
    ["a tool that is not deployed", { ...ready, tool: "gone" }, false],
    ["a deadline that is now", { ...ready, deadline_at_ms: startMs }, false],
    ["a deadline in a millisecond", { ...ready, deadline_at_ms: startMs + 1 }, true],
    ["its last attempt", { ...ready, attempts_used: 4 }, true],
    ["no attempt left", { ...ready, attempts_used: 5 }, false],
    ["a PENDING node", { ...ready, status: "PENDING" }, false],
    ["a WAITING node", { ...ready, status: "WAITING" }, false],
    ["a node in doubt", { ...ready, status: "IN_DOUBT" }, false],
    ["a node that has ended", { ...ready, status: "SUCCEEDED" }, false],
    ["a node that has ended, an old lease still on it", { ...runningWith(oldLease), status: "FAILED" }, false],
    ["a node in doubt, an old lease still on it", { ...runningWith(oldLease), status: "IN_DOUBT" }, false],
    ["a READY node that is not due, an old lease on it", { ...nodeWith(oldLease), not_before_ms: startMs + 1 }, false],
  ])("of %s", (_name, node, taken) => {
    expect(allows(claim(request()).conditions, node)).toBe(taken);
  });

  const careful = nodeWith({ tool: "careful" });
  const overLease = { tool: "careful", lease_expires_at_ms: startMs - 90_000, owner_dead_at_ms: startMs - 80_000 };
  test.each<[string, NodeItem, boolean]>([
    ["READY and never claimed", careful, true],
    ["READY after certain attempts", { ...careful, epoch: 3, certain_through_epoch: 3, attempts_used: 3 }, true],
    ["READY over an open attempt", { ...careful, epoch: 1, open_since_ms: startMs - 9 }, false],
    ["RUNNING, its owner long dead", runningWith(overLease), false],
    ["READY over an open attempt, but not careful", nodeWith({ epoch: 1, open_since_ms: startMs - 9 }), true],
  ])("of a careful tool's node, %s: never over an attempt that may have had its effect", (_name, node, taken) => {
    expect(allows(claim(request()).conditions, node)).toBe(taken);
  });

  test("by a deployment of careful tools alone, of careless ones alone, or of none, takes its own only", () => {
    const taken = (part: Partial<Parameters<typeof claim>[0]>) =>
      [ready, careful].map((node) => allows(claim(request(part)).conditions, node));
    expect(taken({ carefree: [] })).toEqual([false, true]);
    expect(taken({ careful: [] })).toEqual([true, false]);
    expect(taken({ carefree: [], careful: [] })).toEqual([false, false]);
  });

  test("of an item that another version wrote is refused", () => {
    expect(holdAll(claim(request()).conditions, { ...itemOf(ready), v: 2 })).toBe(false);
  });
});

describe("a claim to reconcile", () => {
  const asFound: readonly Condition[] = [
    { attr: "status", is: "equal", value: "RUNNING" },
    { attr: "epoch", is: "equal", value: 1 },
    { attr: "lease_expires_at_ms", is: "equal", value: startMs + 30_000 },
  ];
  const found = runningWith({ attempts_used: 5, deadline_at_ms: startMs, reconciles_used: 2 });

  test("raises the epoch, counts a reconcile and no attempt, and keeps the oldest open attempt's time", async () => {
    const { table, node } = testWorld(itemOf(found));
    const write = claimToReconcile(found, request({ nowMs: startMs + 400_000 }), asFound);
    expect(await table.write(write)).toMatchObject({ is: "applied" });
    expect(await node("a")).toMatchObject({
      status: "RUNNING",
      epoch: 2,
      attempts_used: 5,
      reconciles_used: 3,
      certain_through_epoch: 0,
      open_since_ms: startMs,
      claim_id: "c-new",
      message_id: "m-new",
      lease_expires_at_ms: startMs + 430_000,
      owner_dead_at_ms: startMs + 702_000,
      dispatch_id: "d-0",
    });
    // The SDK repeats a call whose answer was lost; a repeat must not count twice.
    expect(await table.write(write)).toMatchObject({ is: "refused" });
  });

  test("is the first one where none was counted before", async () => {
    const { table, node } = testWorld(itemOf(runningWith()));
    await table.write(claimToReconcile(runningWith(), request(), asFound));
    expect((await node("a")).reconciles_used).toBe(1);
  });

  test("is refused when the node is not as it was found, or another version wrote it", () => {
    const { conditions } = claimToReconcile(found, request(), asFound);
    expect(allows(conditions, found)).toBe(true);
    expect(allows(conditions, { ...found, epoch: 2 })).toBe(false);
    expect(allows(conditions, { ...found, status: "SUCCEEDED" })).toBe(false);
    expect(allows(conditions, { ...found, lease_expires_at_ms: startMs + 40_000 })).toBe(false);
    expect(holdAll(conditions, { ...itemOf(found), v: 2 })).toBe(false);
  });
});

describe("a doubt", () => {
  const node = runningWith({ epoch: 2, attempts_used: 2, reconciles_used: 1, not_before_ms: 1, ready_at_ms: 2 });
  const enter = () => enterDoubt(node, ownedAt(2), "who knows", noRecord, startMs + 9);

  test("keeps when, why and of which attempt, leaves what is open open, and has no lease", async () => {
    const world = testWorld(itemOf(node), itemOf(runWith()));
    expect(await world.table.transact(enter())).toEqual({ is: "applied" });
    const found = await world.node("a");
    expect(found).toMatchObject({ status: "IN_DOUBT", epoch: 2, certain_through_epoch: 0, open_since_ms: startMs });
    expect(JSON.parse(found.doubt ?? "")).toEqual({ atMs: startMs + 9, why: "who knows", attempt: 2, reconciles: 1 });
    for (const gone of ["lease_expires_at_ms", "owner_dead_at_ms", "message_id", "not_before_ms", "ready_at_ms"])
      expect(found).not.toHaveProperty(gone);
    expect(found).not.toHaveProperty("effect");
    expect(found).not.toHaveProperty("ended_at_ms");
  });

  test("takes the time to live from the node and from its run, in one transaction, and frees nobody", async () => {
    const world = testWorld(itemOf(node), itemOf(runWith()));
    await world.table.transact(enter());
    expect(await world.node("a")).not.toHaveProperty("expires_at");
    const run = await world.run();
    expect(run).not.toHaveProperty("expires_at");
    expect(run).toMatchObject({ status: "RUNNING", waiting_on: new Set([0]), scan_shard: 0 });
    expect(names(enter())).toEqual(["enter_doubt", "keep_run"]);
  });

  test("is entered on the conditions that it was given, and holds only a living run of its generation", () => {
    const [own, run] = enter().map((write) => write.conditions);
    expect(allows(own ?? [], node)).toBe(true);
    expect(allows(own ?? [], { ...node, epoch: 3 })).toBe(false);
    expect(allows(run ?? [], runWith())).toBe(true);
    expect(allows(run ?? [], runWith({ status: "CANCELLING" }))).toBe(true);
    expect(allows(run ?? [], runWith({ generation: "h" }))).toBe(false);
    expect(allows(run ?? [], runWith({ scan_shard: undefined }))).toBe(false);
  });

  const doubted = nodeWith({
    status: "IN_DOUBT",
    epoch: 4,
    attempts_used: 5,
    open_since_ms: startMs,
    reconciles_used: 3,
    doubt: "{}",
    expires_at: undefined,
  });

  test("resolved as not done is a new dispatch at the next epoch, certain through it, with a fresh budget", async () => {
    const world = testWorld(itemOf(doubted));
    const writes = resolveNotDone(doubted, { resolved_by: "cmd", expires_at: 77 }, startMs + 5);
    expect(await world.table.transact(writes)).toEqual({ is: "applied" });
    const found = await world.node("a");
    expect(found).toMatchObject({
      status: "READY",
      epoch: 5,
      certain_through_epoch: 5,
      dispatch_id: "d-5",
      attempts_used: 0,
      not_before_ms: 0,
      ready_at_ms: startMs + 5,
      resolved_by: "cmd",
      expires_at: 77,
    });
    for (const gone of ["open_since_ms", "reconciles_used", "doubt"]) expect(found).not.toHaveProperty(gone);
    expect(entryOf(writes)).toMatchObject({ messages: '[["a","d-5",0]]', advances: "[]", advance_run: false });
    expect(await world.table.transact(writes)).toMatchObject({ is: "refused" });
  });

  test("can be resolved at its own epoch only, while it is in doubt", () => {
    for (const conditions of [inDoubtAt(4), resolveNotDone(doubted, {}, startMs)[0]?.conditions ?? []]) {
      expect(allows(conditions, doubted)).toBe(true);
      expect(allows(conditions, { ...doubted, epoch: 5 })).toBe(false);
      expect(allows(conditions, { ...doubted, status: "READY" })).toBe(false);
      expect(allows(conditions, { ...doubted, status: "SUCCEEDED" })).toBe(false);
    }
  });

  test("that was ends with its node: the mark is gone", async () => {
    const world = testWorld(itemOf(doubted));
    await world.table.transact(endNode(ending({ node: doubted, guard: inDoubtAt(4) })));
    expect(await world.node("a")).not.toHaveProperty("doubt");
  });

  test("that was gives its run a time to live again when the run ends; another run keeps its own", () => {
    const run = runWith({ waiting_on: undefined, expires_at: undefined, retention_ms: 86_400_000 });
    expect(endRun(run, startMs + 1).set).toMatchObject({ expires_at: startMs / 1_000 + 86_401 });
    expect(endRun(runWith({ waiting_on: undefined }), startMs).set).not.toHaveProperty("expires_at");
  });
});

describe("a write after a claim proves that the node is still owned (I2)", () => {
  const node = runningWith({ epoch: 3 });
  const writes: readonly [string, readonly Condition[]][] = [
    ["a heartbeat", heartbeat(node, 1).conditions],
    [
      "a retry",
      requeue(node, { name: "retry", notBeforeMs: 0, certain: true, record: noRecord, counts: true }, startMs)[0]
        ?.conditions ?? [],
    ],
    ["an ending", endNode(ending({ node }))[0]?.conditions ?? []],
  ];
  test.each(writes)("%s", (_name, conditions) => {
    expect(conditions.length).toBeGreaterThan(0);
    expect(allows(conditions, node)).toBe(true);
    expect(allows(conditions, { ...node, epoch: 4 })).toBe(false);
    expect(allows(conditions, { ...node, epoch: 2 })).toBe(false);
    for (const status of ["READY", "SUCCEEDED", "FAILED", "WAITING", "IN_DOUBT"] as const)
      expect(allows(conditions, { ...node, status })).toBe(false);
  });
});

test("an attempt is open above the epoch that is certain; one's own is not an earlier one", () => {
  const at = (epoch: number, certain_through_epoch: number) => runningWith({ epoch, certain_through_epoch });
  expect([hasOpenAttempt(at(0, 0)), hasOpenAttempt(at(1, 0)), hasOpenAttempt(at(2, 2))]).toEqual([false, true, false]);
  expect([hasEarlierOpenAttempt(at(1, 0)), hasEarlierOpenAttempt(at(2, 0)), hasEarlierOpenAttempt(at(2, 1))]).toEqual([
    false,
    true,
    false,
  ]);
});

describe("back to READY", () => {
  const node = runningWith({ epoch: 2, attempts_used: 2, certain_through_epoch: 0, error: "old" });
  const again = { name: "retry", notBeforeMs: startMs + 500, certain: false, record: noRecord, counts: true } as const;

  test("is a new dispatch with its message in the same transaction, and leaves no lease (I1)", async () => {
    const world = testWorld(itemOf(node));
    const writes = requeue(node, { ...again, record: { set: { error: "new" }, remove: ["error_epoch"] } }, startMs + 5);
    expect(await world.table.transact(writes)).toEqual({ is: "applied" });
    const found = await world.node("a");
    expect(found).toMatchObject({
      status: "READY",
      dispatch_id: "d-2",
      not_before_ms: startMs + 500,
      ready_at_ms: startMs + 5,
      attempts_used: 2,
      epoch: 2,
      error: "new",
    });
    expect(found).toMatchObject({ certain_through_epoch: 0, open_since_ms: startMs });
    for (const gone of ["lease_expires_at_ms", "owner_dead_at_ms", "message_id"])
      expect(found).not.toHaveProperty(gone);
    expect(entryOf(writes)).toMatchObject({
      messages: JSON.stringify([["a", "d-2", startMs + 500]]),
      advances: "[]",
      advance_run: false,
    });
    expect(entryOf(writes)).not.toHaveProperty("ordinal");
  });

  test("certain: every attempt so far is, and none is open", async () => {
    const world = testWorld(itemOf(node));
    await world.table.transact(requeue(node, { ...again, certain: true }, startMs));
    const found = await world.node("a");
    expect(found.certain_through_epoch).toBe(2);
    expect(found).not.toHaveProperty("open_since_ms");
  });

  test("without its tool called: the attempt is given back, the epoch is not", async () => {
    const world = testWorld(itemOf(node));
    await world.table.transact(requeue(node, { ...again, counts: false }, startMs));
    expect(await world.node("a")).toMatchObject({ attempts_used: 1, epoch: 2, dispatch_id: "d-2" });
  });
});

function ending(part: Partial<EndNode> = {}): EndNode {
  const node = part.node ?? runningWith();
  return {
    node,
    guard: ownedAt(node.epoch),
    ending: { status: "SUCCEEDED", effect: "done", certain: true, record: noRecord },
    dependents: [],
    nowMs: startMs + 9,
    ...part,
  };
}
const inlineWith = (run: Partial<RunItem> = {}, ...notAsExpected: string[]): Inline => ({
  run: runWith({ waiting_on: new Set([7]), ...run }),
  notAsExpected: new Set(notAsExpected),
});
const failedEnding: EndNode["ending"] = { status: "FAILED", effect: "none", certain: true, record: noRecord };

describe("the end of a node", () => {
  test.each(["SUCCEEDED", "FAILED", "CANCELLED", "EXPIRED", "SKIPPED"] as const)(
    "%s writes status, effect and time, and takes away what only a living node has",
    async (status) => {
      const node = runningWith({ waiting_on: new Set([3]), not_before_ms: 1, ready_at_ms: 2 });
      const world = testWorld(itemOf(node));
      const writes = endNode(
        ending({
          node,
          ending: { status, effect: "unknown", certain: true, record: { set: { output: "1" }, remove: ["error"] } },
        }),
      );
      expect(await world.table.transact(writes)).toEqual({ is: "applied" });
      const found = await world.node("a");
      expect(found).toMatchObject({
        status,
        effect: "unknown",
        ended_at_ms: startMs + 9,
        output: "1",
        certain_through_epoch: 1,
      });
      for (const gone of [
        "lease_expires_at_ms",
        "owner_dead_at_ms",
        "message_id",
        "not_before_ms",
        "ready_at_ms",
        "waiting_on",
        "open_since_ms",
      ]) {
        expect(found).not.toHaveProperty(gone);
      }
      expect(names(writes)).toEqual([`end_${status.toLowerCase()}`, "outbox"]);
    },
  );

  test("that is not certain leaves the mark and the oldest claim time alone (I14)", async () => {
    const node = runningWith({ epoch: 2 });
    const world = testWorld(itemOf(node));
    await world.table.transact(
      endNode(ending({ node, ending: { ...failedEnding, effect: "unknown", certain: false } })),
    );
    expect(await world.node("a")).toMatchObject({ certain_through_epoch: 0, open_since_ms: startMs });
  });

  const dependents: readonly Dependent[] = [
    ["alone", 1],
    ["join", 0],
    ["other", 1],
  ];

  test("that succeeded makes READY who waits for it alone and sends their messages; joins are the entry's", () => {
    const writes = endNode(ending({ dependents, inline: inlineWith() }));
    expect(names(writes)).toEqual(["end_succeeded", "ready_alone", "ready_alone", "outbox"]);
    expect(writes.slice(1, 3).map((write) => write.key.sk)).toEqual(["NODE#alone", "NODE#other"]);
    expect(entryOf(writes)).toMatchObject({
      messages: JSON.stringify([
        ["alone", "d-0", 0],
        ["other", "d-0", 0],
      ]),
      ordinal: 0,
      failed: false,
      advances: '["join"]',
      advance_run: false,
    });
  });

  test("whose dependent is not as expected leaves that one to the entry", () => {
    const place = keyText({ ...advance("r", "g", "alone", new Set([0]), false) });
    const writes = endNode(ending({ dependents, inline: inlineWith({}, place) }));
    expect(names(writes)).toEqual(["end_succeeded", "ready_alone", "outbox"]);
    expect(entryOf(writes)).toMatchObject({
      messages: JSON.stringify([["other", "d-0", 0]]),
      advances: '["alone","join"]',
    });
  });

  test("without a run at hand, leaves all to the entry", () => {
    expect(entryOf(endNode(ending({ dependents })))).toMatchObject({
      messages: "[]",
      advances: '["alone","join","other"]',
    });
    expect(names(endNode(ending({ dependents })))).toEqual(["end_succeeded", "outbox"]);
  });

  test("that did not succeed makes nobody READY, and its entry says that it failed", () => {
    const writes = endNode(ending({ dependents, inline: inlineWith(), ending: failedEnding }));
    expect(names(writes)).toEqual(["end_failed", "outbox"]);
    expect(entryOf(writes)).toMatchObject({ failed: true, messages: "[]", advances: '["alone","join","other"]' });
  });

  test("frees 20 at the most itself; the next ones move up for those that are not as expected", () => {
    const many = Array.from({ length: 25 }, (_, index): Dependent => [`n${index}`, 1]);
    const writes = endNode(ending({ dependents: many, inline: inlineWith() }));
    expect(names(writes).filter((name) => name === "ready_alone")).toHaveLength(20);
    expect(entryOf(writes)?.advances).toBe('["n20","n21","n22","n23","n24"]');
    const without = endNode(
      ending({ dependents: many, inline: inlineWith({}, keyText(advance("r", "g", "n3", new Set([0]), false))) }),
    );
    expect(names(without).filter((name) => name === "ready_alone")).toHaveLength(20);
    expect(entryOf(without)?.advances).toBe('["n3","n21","n22","n23","n24"]');
  });

  test("makes READY only a PENDING dependent of its own generation that waits for it and nobody else (I11)", () => {
    const conditions = endNode(ending({ dependents: [["b", 1]], inline: inlineWith() }))[1]?.conditions ?? [];
    expect(allows(conditions, pendingWith())).toBe(true);
    expect(allows(conditions, pendingWith({ status: "SKIPPED" }))).toBe(false);
    expect(allows(conditions, pendingWith({ generation: "h" }))).toBe(false);
    expect(allows(conditions, pendingWith({ waiting_on: new Set([0, 1]) }))).toBe(false);
    expect(allows(conditions, pendingWith({ waiting_on: new Set([1]) }))).toBe(false);
    expect(allows(conditions, pendingWith({ waiting_on: undefined }))).toBe(false);
  });
});

describe("the end of the last node", () => {
  const last = (run: Partial<RunItem>, part: Partial<EndNode> = {}) =>
    endNode(ending({ inline: inlineWith({ waiting_on: new Set([0]), ...run }), ...part }));

  test("ends the run in the same transaction, and needs no entry", async () => {
    const world = testWorld(itemOf(runningWith()), itemOf(runWith()));
    const writes = last({});
    expect(names(writes)).toEqual(["end_succeeded", "end_run"]);
    expect(await world.table.transact(writes)).toEqual({ is: "applied" });
    const run = await world.run();
    expect(run).toMatchObject({ status: "SUCCEEDED", ended_at_ms: startMs + 9 });
    for (const gone of ["waiting_on", "scan_shard", "scan_at_ms", "dep_failed"]) expect(run).not.toHaveProperty(gone);
  });

  test.each<[string, Partial<RunItem>, string]>([
    ["waits for another sink too", { waiting_on: new Set([0, 1]) }, ""],
    ["waits for another only", { waiting_on: new Set([1]) }, ""],
    ["waits for nothing any more", { waiting_on: undefined }, ""],
    ["is not as expected", {}, "RUN#r\nRUN"],
  ])("leaves the run to the entry where it %s", (_name, run, place) => {
    const writes = endNode(ending({ inline: inlineWith({ waiting_on: new Set([0]), ...run }, place) }));
    expect(names(writes)).toEqual(["end_succeeded", "outbox"]);
    expect(entryOf(writes)).toMatchObject({ advance_run: true, advances: "[]" });
  });

  test("that failed makes the run FAILED, an earlier failure of another does so too, and a cancel stands before both", () => {
    const statusOf = (writes: readonly Write[]) =>
      writes.flatMap((write) => (write.op === "update" && write.name === "end_run" ? [write.set] : []))[0];
    expect(statusOf(last({}, { ending: failedEnding }))).toMatchObject({ status: "FAILED", dep_failed: true });
    expect(statusOf(last({ dep_failed: true }))).toMatchObject({ status: "FAILED" });
    expect(statusOf(last({ status: "CANCELLING" }))).toMatchObject({ status: "CANCELLED" });
    expect(statusOf(last({ deadline_at_ms: startMs }, { ending: failedEnding }))).toMatchObject({ status: "EXPIRED" });
  });

  test("is refused when the run has been cancelled since it was read", () => {
    const conditions = last({}).find((write) => write.name === "end_run")?.conditions ?? [];
    expect(allows(conditions, runWith())).toBe(true);
    expect(allows(conditions, runWith({ status: "CANCELLING" }))).toBe(false);
    expect(allows(conditions, runWith({ waiting_on: new Set([0, 1]) }))).toBe(false);
    expect(allows(conditions, runWith({ generation: "h" }))).toBe(false);
  });

  test("with dependents ends no run, even one that waits for it", () => {
    const writes = last({}, { dependents: [["b", 0]] });
    expect(names(writes)).toEqual(["end_succeeded", "outbox"]);
    expect(entryOf(writes)).toMatchObject({ advance_run: false });
  });
});

describe("an advance", () => {
  test("takes ended ordinals out as often as it likes, marks a failure in the same update, and only while PENDING", async () => {
    const world = testWorld(itemOf(pendingWith({ waiting_on: new Set([0, 1, 2]) })));
    const step = advance("r", "g", "b", new Set([0, 5]), true);
    await world.table.write(step);
    await world.table.write(step);
    expect(await world.node("b")).toMatchObject({ status: "PENDING", waiting_on: new Set([1, 2]), dep_failed: true });
    await world.table.write(advance("r", "g", "b", new Set([1, 2]), false));
    expect(await world.node("b")).toMatchObject({ status: "PENDING", dep_failed: true });
    expect(await world.node("b")).not.toHaveProperty("waiting_on");
    expect(advance("r", "g", "b", new Set([0]), false)).not.toHaveProperty("set");
    for (const part of [{ status: "READY" }, { status: "SKIPPED" }, { generation: "h" }] as const)
      expect(allows(step.conditions, pendingWith(part))).toBe(false);
  });

  test("of a run needs it living and of the same generation", () => {
    const step = advanceRun("r", "g", new Set([0]), true);
    expect(step).toMatchObject({ set: { dep_failed: true }, deleteFromSet: { waiting_on: new Set([0]) } });
    expect(advanceRun("r", "g", new Set([0]), false)).not.toHaveProperty("set");
    expect(allows(step.conditions, runWith())).toBe(true);
    expect(allows(step.conditions, runWith({ status: "CANCELLING" }))).toBe(true);
    expect(allows(step.conditions, runWith({ generation: "h" }))).toBe(false);
    expect(allows(step.conditions, runWith({ scan_shard: undefined }))).toBe(false);
  });

  test("makes READY and skips only what is PENDING and waits for nothing; a skip also needs the mark", () => {
    const free = pendingWith({ waiting_on: undefined });
    const ready = makeReady(free, startMs);
    expect(ready.set).toEqual({ status: "READY", ready_at_ms: startMs, not_before_ms: 0 });
    const marked = { ...free, dep_failed: true };
    const skipped = skip(marked, [["c", 0]], startMs);
    expect(entryOf(skipped)).toMatchObject({ failed: true, ordinal: 1, advances: '["c"]', advance_run: false });
    expect(entryOf(skip(marked, [], startMs))).toMatchObject({ advances: "[]", advance_run: true });
    expect(skipped[0]).toMatchObject({ name: "end_skipped", set: { status: "SKIPPED", effect: "none" } });
    for (const conditions of [ready.conditions, skipped[0]?.conditions ?? []]) {
      expect(allows(conditions, marked)).toBe(true);
      expect(allows(conditions, { ...marked, waiting_on: new Set([3]) })).toBe(false);
      expect(allows(conditions, { ...marked, generation: "h" })).toBe(false);
      expect(allows(conditions, { ...marked, status: "READY" })).toBe(false);
    }
    expect(allows(skipped[0]?.conditions ?? [], free)).toBe(false);
  });
});

describe("the end of a run", () => {
  test.each<[Partial<RunItem>, string]>([
    [{}, "SUCCEEDED"],
    [{ deadline_at_ms: startMs - 1 }, "SUCCEEDED"],
    [{ dep_failed: true }, "FAILED"],
    [{ dep_failed: true, deadline_at_ms: startMs + 1 }, "FAILED"],
    [{ dep_failed: true, deadline_at_ms: startMs }, "EXPIRED"],
    [{ status: "CANCELLING" }, "CANCELLED"],
    [{ status: "CANCELLING", dep_failed: true, deadline_at_ms: startMs }, "CANCELLED"],
  ])("of %j is %s", (part, status) => {
    expect(runResult(runWith(part), startMs)).toBe(status);
  });

  test("is on condition of the status it was computed from, its generation and an empty set (I15)", () => {
    const run = runWith({ waiting_on: undefined });
    const { conditions } = endRun(run, startMs);
    expect(allows(conditions, run)).toBe(true);
    for (const status of runStatusSchema.options)
      if (status !== "RUNNING") expect(allows(conditions, { ...run, status })).toBe(false);
    expect(allows(conditions, { ...run, generation: "h" })).toBe(false);
    expect(allows(conditions, runWith())).toBe(false);
  });
});

describe("a run's own changes", () => {
  test("a cancel moves RUNNING only, and has the scanner look at once", () => {
    const cancel = requestCancel("r", "cmd", "why", startMs);
    expect(cancel.set).toEqual({
      status: "CANCELLING",
      cancel_command_id: "cmd",
      scan_at_ms: startMs,
      cancel_reason: "why",
    });
    expect(requestCancel("r", "cmd", undefined, startMs).set).not.toHaveProperty("cancel_reason");
    for (const status of runStatusSchema.options)
      expect(allows(cancel.conditions, runWith({ status }))).toBe(status === "RUNNING");
    expect(holdAll(cancel.conditions, { ...itemOf(runWith()), v: 2 })).toBe(false);
  });

  test("a wake sets the next look of a living run of its generation, and nothing else", () => {
    const wake = wakeRun(nodeWith(), startMs);
    expect(wake.set).toEqual({ scan_at_ms: startMs });
    expect(allows(wake.conditions, runWith())).toBe(true);
    expect(allows(wake.conditions, runWith({ status: "CANCELLING" }))).toBe(true);
    expect(allows(wake.conditions, runWith({ generation: "h" }))).toBe(false);
    expect(allows(wake.conditions, runWith({ scan_shard: undefined }))).toBe(false);
  });

  test("the next look is moved only from the one that was read", () => {
    const move = moveScan(runWith(), startMs + 60_000, startMs + 1);
    expect(move.set).toEqual({ scan_at_ms: startMs + 60_000, scanned_at_ms: startMs + 1 });
    expect(allows(move.conditions, runWith())).toBe(true);
    expect(allows(move.conditions, runWith({ scan_at_ms: startMs - 1 }))).toBe(false);
    expect(allows(move.conditions, runWith({ scan_at_ms: undefined }))).toBe(false);
    expect(allows(move.conditions, runWith({ generation: "h" }))).toBe(false);
  });

  test("a value beside its node is written once; the same again is as good, and one of an old run gives way", () => {
    const { conditions, item } = putBeside("x", { pk: "p", sk: "s" }, nodeWith(), "v");
    expect(holdAll(conditions, undefined)).toBe(true);
    expect(holdAll(conditions, { pk: "p", sk: "s", ...item })).toBe(true);
    expect(holdAll(conditions, { pk: "p", sk: "s", ...item, value: "w" })).toBe(false);
    expect(holdAll(conditions, { pk: "p", sk: "s", ...item, value: "w", generation: "old" })).toBe(true);
  });

  test("a dispatch is named by its epoch", () => {
    expect([dispatchIdAt(0), dispatchIdAt(12)]).toEqual(["d-0", "d-12"]);
  });
});
