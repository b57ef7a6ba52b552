import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { NodeItem, RunItem } from "../../../shared/model.ts";
import { owed, type SeenNode, stepPassed } from "../../../shared/owed.ts";
import { nodeWith, pendingWith, runningWith, runWith, startMs, testLimits } from "../../support/world.ts";

const minute = 60_000;
const hour = 60 * minute;
const limits = testLimits();
const sees = (node: NodeItem, ...dependents: string[]): SeenNode => ({
  node,
  dependents: dependents.map((id) => [id, 0]),
});
const look = (run: Partial<RunItem>, ...seen: readonly SeenNode[]) => owed(runWith(run), seen, startMs, limits);
const lookedAt = (ms: number) => ({ scanned_at_ms: startMs - ms });

describe("growing steps", () => {
  /** Ages in minutes at which a scanner that looks each minute sends. */
  const sendsOf = (untilMinutes: number, everyMs = minute, offsetMs = 0): number[] => {
    const sends: number[] = [];
    for (let now = everyMs + offsetMs; now <= untilMinutes * minute; now += everyMs) {
      if (stepPassed(0, now - everyMs, now, minute)) sends.push(now / minute);
    }
    return sends;
  };

  test("a message is sent when its age passes 60 s x 2^k, and from an hour on at each hour", () => {
    expect(sendsOf(5 * 60)).toEqual([1, 2, 4, 8, 16, 32, 60, 120, 180, 240, 300]);
  });

  test("a look that comes late, or passes several steps at once, sends once and not again", () => {
    expect(sendsOf(70, minute, 30_000)).toEqual([1.5, 2.5, 4.5, 8.5, 16.5, 32.5, 60.5]);
    expect(stepPassed(0, 0, 50 * minute, minute)).toBe(true);
    expect(stepPassed(0, 50 * minute, 51 * minute, minute)).toBe(false);
    expect(stepPassed(0, 0, 10 * hour, minute)).toBe(true);
  });

  test("the edges: at a step exactly it is sent, a millisecond before it is not, and a look at the step was that step's", () => {
    expect(stepPassed(0, 0, minute - 1, minute)).toBe(false);
    expect(stepPassed(0, 0, minute, minute)).toBe(true);
    expect(stepPassed(0, minute - 1, minute, minute)).toBe(true);
    expect(stepPassed(0, minute, minute + 1, minute)).toBe(false);
    expect(stepPassed(0, hour - 1, hour, minute)).toBe(true);
    expect(stepPassed(0, hour, 2 * hour - 1, minute)).toBe(false);
    expect(stepPassed(0, 2 * hour - 1, 2 * hour, minute)).toBe(true);
    expect(stepPassed(0, 33 * minute, hour - 1, minute)).toBe(false);
  });

  test("what became due since the last look is not sent before it is old enough; what is not due never is", () => {
    expect(stepPassed(startMs, startMs - hour, startMs + 59_999, minute)).toBe(false);
    expect(stepPassed(startMs, startMs - hour, startMs + minute, minute)).toBe(true);
    expect(stepPassed(startMs, startMs - 2 * hour, startMs - 1, minute)).toBe(false);
  });

  test("however the looks fall, between two of them a step is sent at one look and is never lost (I7)", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 40 * minute }), { minLength: 1, maxLength: 60 }), (gaps) => {
        let last = 0;
        let sent = 0;
        for (const gap of gaps) {
          const now = last + gap;
          if (stepPassed(0, last, now, minute)) sent += 1;
          last = now;
        }
        const steps =
          [1, 2, 4, 8, 16, 32].map((step) => step * minute).filter((step) => step <= last).length +
          Math.floor(last / hour);
        expect(sent).toBeLessThanOrEqual(steps);
        expect(sent > 0).toBe(last >= minute);
      }),
    );
  });
});

describe("a node that a worker should have taken", () => {
  test("READY and stranded is woken under its own dispatch", () => {
    const node = nodeWith({ ready_at_ms: startMs - minute, dispatch_id: "d-3" });
    expect(look(lookedAt(minute), sees(node)).messages).toEqual([
      { dispatch: { run_id: "r", node_id: "a", dispatch_id: "d-3" }, delayMs: 0 },
    ]);
    expect(look(lookedAt(minute), sees({ ...node, ready_at_ms: startMs - minute + 1 })).messages).toEqual([]);
  });

  test("READY counts from when it is due, not from when it became READY", () => {
    const node = nodeWith({ ready_at_ms: startMs - hour, not_before_ms: startMs - 30_000 });
    expect(look(lookedAt(minute), sees(node)).messages).toEqual([]);
  });

  test("READY that falls due before the next look is sent now with its delay; what is due at the next look or later is not", () => {
    const due = (ms: number) =>
      look(lookedAt(minute), sees(nodeWith({ not_before_ms: startMs + ms }))).messages.map(({ delayMs }) => delayMs);
    expect(due(0)).toEqual([]);
    expect(due(1)).toEqual([1]);
    expect(due(minute - 1)).toEqual([minute - 1]);
    expect(due(minute)).toEqual([]);
    expect(due(2 * minute)).toEqual([]);
  });

  test("a delay longer than a queue can hold is left for a later look", () => {
    const slow = testLimits({ scanEveryMs: 1_200_000 });
    const due = (ms: number) =>
      owed(runWith(), [sees(nodeWith({ not_before_ms: startMs + ms }))], startMs, slow).messages;
    expect(due(900_000)).toHaveLength(1);
    expect(due(900_001)).toEqual([]);
  });

  test("READY whose deadline passes before it is due is due at its deadline", () => {
    const node = nodeWith({ not_before_ms: startMs + hour, deadline_at_ms: startMs + 20_000 });
    expect(look(lookedAt(minute), sees(node)).messages).toMatchObject([{ delayMs: 20_000 }]);
  });

  test("RUNNING is woken when its lease has ended beyond the skew bound for long enough, and not while it may live", () => {
    const ended = (ms: number) =>
      look(lookedAt(minute), sees(runningWith({ lease_expires_at_ms: startMs - ms }))).messages;
    expect(ended(62_000)).toHaveLength(1);
    expect(ended(61_999)).toEqual([]);
    expect(ended(-30_000)).toEqual([]);
  });

  test.each(["PENDING", "WAITING", "IN_DOUBT", "SUCCEEDED", "FAILED", "CANCELLED", "EXPIRED", "SKIPPED"] as const)(
    "%s is no worker's turn",
    (status) => {
      const parent = sees(nodeWith({ node_id: "p", ordinal: 5, status: "RUNNING", lease_expires_at_ms: startMs }), "a");
      const node = nodeWith({ status, ready_at_ms: startMs - minute, lease_expires_at_ms: startMs - minute });
      expect(look(lookedAt(minute), parent, sees(node)).messages).toEqual([]);
    },
  );
});

describe("a node that waits for what has ended", () => {
  const a = (status: NodeItem["status"], ordinal = 0, node_id = "a") =>
    sees(nodeWith({ node_id, ordinal, status }), "b");

  test("is advanced by its parents' states, and told when one of them failed", () => {
    const waiting = sees(pendingWith({ waiting_on: new Set([0, 2]) }));
    expect(look({}, a("SUCCEEDED"), a("RUNNING", 2, "c"), waiting).advances).toEqual([
      { nodeId: "b", ordinals: new Set([0]), failed: false },
    ]);
    expect(look({}, a("SUCCEEDED"), a("SKIPPED", 2, "c"), waiting).advances).toEqual([
      { nodeId: "b", ordinals: new Set([0, 2]), failed: true },
    ]);
  });

  test.each(["FAILED", "CANCELLED", "EXPIRED", "SKIPPED"] as const)("%s of its only parent is a failure", (status) => {
    expect(look({}, a(status), sees(pendingWith())).advances).toEqual([
      { nodeId: "b", ordinals: new Set([0]), failed: true },
    ]);
  });

  test.each(["PENDING", "READY", "RUNNING", "WAITING", "IN_DOUBT"] as const)(
    "%s of its only parent is no end",
    (status) => {
      const parent = sees(nodeWith({ status, waiting_on: new Set([9]) }), "b");
      expect(look({}, parent, sees(pendingWith())).advances.filter(({ nodeId }) => nodeId === "b")).toEqual([]);
    },
  );

  test("with an empty set is advanced still, since the relay may have died before it made it READY", () => {
    expect(look({}, a("SUCCEEDED"), sees(pendingWith({ waiting_on: undefined }))).advances).toEqual([
      { nodeId: "b", ordinals: new Set([0]), failed: false },
    ]);
  });

  test("with a set that lacks only what has ended, and others living, is owed nothing", () => {
    const waiting = sees(pendingWith({ waiting_on: new Set([2]) }));
    expect(look({}, a("SUCCEEDED"), a("RUNNING", 2, "c"), waiting).advances).toEqual([]);
  });

  test("is not advanced once it has left PENDING", () => {
    expect(look({}, a("SUCCEEDED"), sees(nodeWith({ node_id: "b", ordinal: 1 }))).advances).toEqual([]);
  });
});

describe("the run itself", () => {
  const sink = (status: NodeItem["status"], ordinal = 0) => sees(nodeWith({ node_id: `n${ordinal}`, status, ordinal }));

  test("is advanced by sinks that have ended and that it still waits for", () => {
    expect(look({ waiting_on: new Set([0, 1]) }, sink("SUCCEEDED"), sink("RUNNING", 1)).advanceRun).toEqual({
      ordinals: new Set([0]),
      failed: false,
    });
    expect(look({ waiting_on: new Set([0, 1]) }, sink("SUCCEEDED"), sink("FAILED", 1)).advanceRun).toEqual({
      ordinals: new Set([0, 1]),
      failed: true,
    });
    expect(look({ waiting_on: new Set([1]) }, sink("SUCCEEDED"), sink("RUNNING", 1)).advanceRun).toBeUndefined();
  });

  test("is not advanced by a node that others depend on", () => {
    expect(
      look({ waiting_on: new Set([0, 1]) }, sees(nodeWith({ status: "SUCCEEDED" }), "b"), sink("RUNNING", 1))
        .advanceRun,
    ).toBeUndefined();
  });

  test("is ended when it lives and waits for nothing", () => {
    expect(look({ waiting_on: undefined }, sink("SUCCEEDED")).endRun).toBe(true);
    expect(look({ waiting_on: undefined, status: "CANCELLING" }, sink("SUCCEEDED")).endRun).toBe(true);
    expect(look({ waiting_on: undefined, status: "SUCCEEDED" }, sink("SUCCEEDED")).endRun).toBe(false);
    expect(look({}, sink("RUNNING")).endRun).toBe(false);
  });
});

describe("the next look", () => {
  const next = (run: Partial<RunItem>, ...seen: readonly SeenNode[]) => look(run, ...seen).nextScanAtMs - startMs;

  test("is in a minute while anything is READY, RUNNING or owed", () => {
    expect(next({}, sees(nodeWith()))).toBe(minute);
    expect(next({}, sees(runningWith()))).toBe(minute);
    expect(next({}, sees(nodeWith({ status: "SUCCEEDED" })))).toBe(minute);
    expect(next({}, sees(nodeWith({ status: "SUCCEEDED" }), "b"), sees(pendingWith()))).toBe(minute);
    expect(next({ waiting_on: undefined })).toBe(minute);
  });

  test("is within the hour where nothing is", () => {
    expect(next({}, sees(nodeWith({ status: "WAITING" })))).toBe(hour);
    expect(next({}, sees(nodeWith({ status: "IN_DOUBT" }), "b"), sees(pendingWith()))).toBe(hour);
  });
});
