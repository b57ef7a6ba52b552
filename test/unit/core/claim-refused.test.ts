/** Every row of the worker's second step, design section 5. */
import { describe, expect, test } from "vitest";
import { endingWithoutAttempt, explainRefusedClaim, type RefusedClaim } from "../../../shared/claim-refused.ts";
import type { NodeItem } from "../../../shared/model.ts";
import { nodeWith, pendingWith, runningWith, startMs, testLimits, toolsOf, toolWith } from "../../support/world.ts";

const leaseEndsAtMs = startMs + 30_000;
const skewMs = 2_000;

const explain = (node: NodeItem, part: Partial<RefusedClaim> = {}) =>
  explainRefusedClaim({
    node,
    dispatchId: "d-0",
    claimId: "c-new",
    messageId: "m-1",
    nowMs: startMs,
    limits: testLimits(),
    tools: toolsOf(toolWith()),
    ...part,
  });

describe("one's own claim, whose answer was lost (I10)", () => {
  test("is gone on with, whatever else is so", () => {
    expect(explain(runningWith({ claim_id: "c-new" }))).toEqual({ is: "mine" });
    const late = { nowMs: startMs + 7_200_000, tools: toolsOf() };
    expect(explain(runningWith({ claim_id: "c-new", attempts_used: 5 }), late)).toEqual({ is: "mine" });
  });

  test("is no longer owned when the node has left RUNNING", () => {
    expect(explain(runningWith({ claim_id: "c-new", status: "SUCCEEDED" }))).toMatchObject({ is: "superfluous" });
    expect(explain(nodeWith({ claim_id: "c-new", dispatch_id: "d-1" }))).toMatchObject({
      is: "superfluous",
      why: "stale dispatch",
    });
  });
});

describe("a message that nothing waits for is superfluous", () => {
  test.each(["SUCCEEDED", "FAILED", "CANCELLED", "EXPIRED", "SKIPPED"] as const)(
    "%s: terminal, past its deadline too (I9)",
    (status) => {
      expect(explain(nodeWith({ status }))).toEqual({ is: "superfluous", why: "terminal" });
      expect(explain(nodeWith({ status }), { nowMs: startMs + 7_200_000, dispatchId: "d-9" })).toEqual({
        is: "superfluous",
        why: "terminal",
      });
    },
  );

  test.each(["READY", "RUNNING", "PENDING", "WAITING", "IN_DOUBT"] as const)(
    "%s under another dispatch: stale, though the deadline has passed",
    (status) => {
      const node = nodeWith({ status, dispatch_id: "d-1", attempts_used: 5 });
      expect(explain(node, { nowMs: startMs + 7_200_000 })).toEqual({ is: "superfluous", why: "stale dispatch" });
    },
  );

  test.each(["PENDING", "WAITING", "IN_DOUBT"] as const)(
    "%s: whoever moves it on sends a message of its own (I15)",
    (status) => {
      expect(explain(pendingWith({ status }), { nowMs: startMs + 7_200_000 })).toEqual({
        is: "superfluous",
        why: status,
      });
    },
  );
});

describe("a lease that may be alive", () => {
  test.each([0, 29_999, 30_000, 31_999, 32_000])(
    "%i ms in, the owner's own message comes back when it surely has ended",
    (ms) => {
      expect(explain(runningWith(), { nowMs: startMs + ms })).toEqual({
        is: "wait",
        untilMs: leaseEndsAtMs + skewMs + 1,
        why: "live lease",
      });
    },
  );

  test("another message is superfluous, since the owner's own comes back", () => {
    const other = { messageId: "m-2", nowMs: leaseEndsAtMs + skewMs };
    expect(explain(runningWith(), other)).toMatchObject({ is: "superfluous", why: "live lease of another message" });
  });

  test("is not ended for its deadline nor for its attempts while it lives", () => {
    const node = runningWith({ attempts_used: 5, deadline_at_ms: startMs });
    expect(explain(node)).toMatchObject({ is: "wait" });
  });
});

describe("a node that nobody may run any more is ended as it was found", () => {
  const ended = leaseEndsAtMs + skewMs + 1;
  const guardOf = (status: string, epoch: number) => [
    { attr: "status", is: "equal", value: status },
    { attr: "epoch", is: "equal", value: epoch },
  ];

  test("READY: EXPIRED from its deadline on, and not a millisecond before", () => {
    const node = nodeWith({ deadline_at_ms: startMs });
    expect(explain(node)).toEqual({ is: "end", status: "EXPIRED", guard: guardOf("READY", 0), why: "deadline passed" });
    expect(explain(node, { nowMs: startMs - 1 })).toMatchObject({ is: "wait" });
    expect(explain(nodeWith({ deadline_at_ms: startMs, not_before_ms: startMs + 1 }))).toMatchObject({
      is: "end",
      status: "EXPIRED",
    });
    expect(explain(nodeWith({ deadline_at_ms: startMs, tool: "gone" }))).toMatchObject({
      is: "end",
      status: "EXPIRED",
    });
  });

  test("READY: FAILED when its attempts are used up, and not one before", () => {
    expect(explain(nodeWith({ attempts_used: 5, epoch: 5 }))).toEqual({
      is: "end",
      status: "FAILED",
      guard: guardOf("READY", 5),
      why: "attempts used up",
    });
    expect(explain(nodeWith({ attempts_used: 4 }))).toMatchObject({ is: "wait" });
  });

  test("RUNNING: once the lease has surely ended, on condition that its end is as read", () => {
    const guard = [...guardOf("RUNNING", 1), { attr: "lease_expires_at_ms", is: "equal", value: leaseEndsAtMs }];
    expect(explain(runningWith({ deadline_at_ms: ended }), { nowMs: ended })).toEqual({
      is: "end",
      status: "EXPIRED",
      guard,
      why: "deadline passed",
    });
    expect(explain(runningWith({ attempts_used: 5 }), { nowMs: ended })).toEqual({
      is: "end",
      status: "FAILED",
      guard,
      why: "attempts used up",
    });
    expect(explain(runningWith({ attempts_used: 5 }), { nowMs: ended, messageId: "m-2" })).toMatchObject({ is: "end" });
  });

  test("the deadline stands before the attempts", () => {
    expect(explain(nodeWith({ attempts_used: 5, deadline_at_ms: startMs }))).toMatchObject({ status: "EXPIRED" });
  });
});

describe("a node that is not due", () => {
  test("is waited for, until its deadline at the longest", () => {
    expect(explain(nodeWith({ not_before_ms: startMs + 1 }))).toEqual({
      is: "wait",
      untilMs: startMs + 1,
      why: "not due",
    });
    const node = nodeWith({ not_before_ms: startMs + 9_000, deadline_at_ms: startMs + 5_000 });
    expect(explain(node)).toMatchObject({ is: "wait", untilMs: startMs + 5_000 });
  });

  test("is due at its time: then only the clock that refused it was behind, and the message comes back", () => {
    expect(explain(nodeWith({ not_before_ms: startMs }))).toEqual({ is: "wait", untilMs: startMs, why: "look again" });
  });
});

describe("a tool that is not deployed", () => {
  test("uses no attempt, for a node that is READY and for one whose owner is gone", () => {
    const tools = toolsOf(toolWith({ name: "other" }));
    expect(explain(nodeWith(), { tools })).toEqual({ is: "unknown_tool" });
    expect(explain(runningWith(), { tools, nowMs: leaseEndsAtMs + skewMs + 1 })).toEqual({ is: "unknown_tool" });
    expect(explain(runningWith(), { tools })).toMatchObject({ is: "wait" });
    expect(explain(nodeWith({ not_before_ms: startMs + 5 }), { tools })).toMatchObject({ is: "wait", why: "not due" });
  });
});

describe("an ending without a further attempt (I14)", () => {
  const error = { name: "NotRun", message: "m" };
  test.each([
    [0, 0, "none", true],
    [1, 1, "none", true],
    [3, 3, "none", true],
    [1, 0, "unknown", false],
    [3, 2, "unknown", false],
  ] as const)("at epoch %i, certain through %i: effect %s", (epoch, certain_through_epoch, effect, certain) => {
    const ending = endingWithoutAttempt(nodeWith({ epoch, certain_through_epoch }), "FAILED", error);
    expect(ending).toEqual({
      status: "FAILED",
      effect,
      certain,
      record: { set: { error: JSON.stringify(error) }, remove: ["error_epoch"] },
    });
  });
});

test("an ending without a further attempt knows of the steps that were remembered: an effect of some is an effect", () => {
  const error = { name: "NotRun", message: "m" };
  const effectOf = (epoch: number) =>
    endingWithoutAttempt(nodeWith({ epoch, certain_through_epoch: 1, part_done: true }), "EXPIRED", error).effect;
  expect([effectOf(1), effectOf(2)]).toEqual(["done", "unknown"]);
});

describe("a careful tool over an open attempt (design section 6)", () => {
  const deadAtMs = startMs + 302_000;
  const lookUp = async () => ({ is: "unknown" }) as const;
  const reconcilable = toolsOf(toolWith({ effect: "reconcilable", reconcile: lookUp }));
  const once = toolsOf(toolWith({ effect: "at_most_once" }));
  const doubtful = {
    is: "doubt",
    why: "the attempt ended without a recorded outcome, and the tool must not be run twice",
  };
  /** What would end a node of any other class. */
  const over: readonly Partial<NodeItem>[] = [
    {},
    { deadline_at_ms: startMs },
    { attempts_used: 5 },
    { attempts_used: 5, deadline_at_ms: startMs },
  ];
  const guardOf = (node: NodeItem) => [
    { attr: "status", is: "equal", value: node.status },
    { attr: "epoch", is: "equal", value: node.epoch },
    ...(node.lease_expires_at_ms === undefined
      ? []
      : [{ attr: "lease_expires_at_ms", is: "equal", value: node.lease_expires_at_ms }]),
  ];

  test.each([reconcilable, once])("whose lease has ended waits until the owner is surely dead: %#", (tools) => {
    for (const part of over) {
      for (const nowMs of [leaseEndsAtMs + skewMs + 1, deadAtMs]) {
        for (const messageId of ["m-1", "m-2"]) {
          expect(explain(runningWith(part), { tools, nowMs, messageId })).toEqual({
            is: "wait",
            untilMs: deadAtMs + 1,
            why: "owner not surely dead",
          });
        }
      }
    }
  });

  test("RUNNING with a dead owner: at_most_once is in doubt, reconcilable is looked up, never ended", () => {
    for (const part of over) {
      const node = runningWith(part);
      const guard = guardOf(node);
      expect(explain(node, { tools: once, nowMs: deadAtMs + 1 })).toEqual({ ...doubtful, guard });
      expect(explain(node, { tools: reconcilable, nowMs: deadAtMs + 1 })).toEqual({ is: "reconcile", guard });
    }
  });

  test("READY: the same, once it is due, and it is never waited for until its deadline only", () => {
    for (const part of over) {
      const node = nodeWith({ epoch: 1, attempts_used: 1, open_since_ms: startMs, ...part });
      const guard = guardOf(node);
      expect(explain(node, { tools: once })).toEqual({ ...doubtful, guard });
      expect(explain(node, { tools: reconcilable })).toEqual({ is: "reconcile", guard });
      const later = { ...node, not_before_ms: startMs + 7_200_000 };
      for (const tools of [once, reconcilable]) {
        expect(explain(later, { tools })).toEqual({ is: "wait", untilMs: startMs + 7_200_000, why: "not due" });
      }
    }
  });

  test("is in doubt when reconcile's budget is used up, the tool's own or the limits'", () => {
    const used = (reconciles_used: number, tools: RefusedClaim["tools"]) =>
      explain(nodeWith({ epoch: 9, attempts_used: 1, reconciles_used }), { tools });
    const two = toolsOf(toolWith({ effect: "reconcilable", reconcile: lookUp, reconcileRetry: { attempts: 2 } }));
    expect(used(1, two)).toMatchObject({ is: "reconcile" });
    expect(used(2, two)).toMatchObject({ is: "doubt", why: "reconcile could not tell in 2 calls" });
    expect(used(9, reconcilable)).toMatchObject({ is: "reconcile" });
    expect(used(10, reconcilable)).toMatchObject({ is: "doubt", why: "reconcile could not tell in 10 calls" });
  });

  test.each([reconcilable, once])("is as any other where nothing is open: %#", (tools) => {
    const certain = { epoch: 2, certain_through_epoch: 2, attempts_used: 2 };
    expect(explain(nodeWith({ ...certain, deadline_at_ms: startMs }), { tools })).toMatchObject({
      is: "end",
      status: "EXPIRED",
    });
    expect(explain(nodeWith({ ...certain, attempts_used: 5 }), { tools })).toMatchObject({
      is: "end",
      status: "FAILED",
    });
    expect(explain(nodeWith({ ...certain, not_before_ms: startMs + 5 }), { tools })).toMatchObject({ why: "not due" });
  });

  test.each([reconcilable, once])("with a living lease is as any other: %#", (tools) => {
    expect(explain(runningWith(), { tools })).toMatchObject({ is: "wait", why: "live lease" });
    expect(explain(runningWith(), { tools, messageId: "m-2" })).toMatchObject({ is: "superfluous" });
    expect(explain(runningWith({ dispatch_id: "d-1" }), { tools, nowMs: deadAtMs + 1 })).toMatchObject({
      why: "stale dispatch",
    });
  });

  test.each(["read_only", "idempotent"] as const)("%s needs no dead owner, and ends as unknown", (effect) => {
    const tools = toolsOf(toolWith({ effect }));
    const nowMs = leaseEndsAtMs + skewMs + 1;
    expect(explain(runningWith({ attempts_used: 5 }), { tools, nowMs })).toMatchObject({ is: "end", status: "FAILED" });
    expect(explain(runningWith({ deadline_at_ms: startMs }), { tools, nowMs })).toMatchObject({ status: "EXPIRED" });
  });
});

describe("a tool that is not deployed any more, over an open attempt whose class nobody knows", () => {
  const tools = toolsOf(toolWith({ name: "other" }));
  const deadAtMs = startMs + 302_000;

  test("uses no attempt while the node could still run", () => {
    expect(explain(nodeWith({ epoch: 1, attempts_used: 1 }), { tools })).toEqual({ is: "unknown_tool" });
    expect(explain(runningWith(), { tools, nowMs: deadAtMs + 1 })).toEqual({ is: "unknown_tool" });
  });

  test.each([{ deadline_at_ms: startMs }, { attempts_used: 5 }])(
    "is in doubt and not ended, since it may be careful: %j",
    (part) => {
      expect(explain(nodeWith({ epoch: 1, attempts_used: 1, ...part }), { tools })).toMatchObject({
        is: "doubt",
        why: "the attempt ended without a recorded outcome, and its tool is not deployed any more",
      });
      expect(explain(runningWith(part), { tools, nowMs: deadAtMs })).toMatchObject({
        is: "wait",
        untilMs: deadAtMs + 1,
      });
      expect(explain(runningWith(part), { tools, nowMs: deadAtMs + 1 })).toMatchObject({ is: "doubt" });
    },
  );
});
