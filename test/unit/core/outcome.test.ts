/** What becomes of a node by what is certain of its effect: design section 6, I14. */
import { describe, expect, test } from "vitest";
import type { NodeItem } from "../../../shared/model.ts";
import { nextStep, type Outcome, type Situation } from "../../../shared/outcome.ts";
import { runningWith, startMs, testLimits, toolWith } from "../../support/world.ts";

const error = { name: "E", message: "m" };
const outcomes = {
  succeeded: { is: "succeeded", output: "1" },
  bad_output: { is: "bad_output", output: "2", error },
  retryable: { is: "retryable", error, retryAfterMs: undefined },
  permanent: { is: "permanent", error },
  unknown: { is: "unknown", error },
  not_started: { is: "not_started", why: "w", delayMs: 7 },
  cancelled: { is: "called_off", status: "CANCELLED", error },
  expired: { is: "called_off", status: "EXPIRED", error },
} as const satisfies Record<string, Outcome>;

/** The first attempt; or the second, whose first was recorded as certain or is open. */
const first = runningWith();
const afterCertain = runningWith({ epoch: 2, attempts_used: 2, certain_through_epoch: 1 });
const afterOpen = runningWith({ epoch: 2, attempts_used: 2, certain_through_epoch: 0 });

const situation = (part: Partial<Situation> = {}): Situation => ({
  node: first,
  runCancelled: false,
  partDone: false,
  nowMs: startMs,
  tool: toolWith(),
  limits: testLimits(),
  fraction: 0.5,
  ...part,
});

describe("an outcome that ends the node whatever else is so", () => {
  const circumstances: readonly Partial<Situation>[] = [
    {},
    { runCancelled: true },
    { nowMs: first.deadline_at_ms + 1 },
    { runCancelled: true, nowMs: first.deadline_at_ms + 1 },
  ];
  const spent = (node: NodeItem): NodeItem => ({ ...node, attempts_used: node.max_attempts });

  test.each([first, afterCertain, afterOpen, spent(afterOpen)])(
    "a success is kept as fact, and settles every attempt before: %#",
    (node) => {
      for (const part of circumstances) {
        expect(nextStep(outcomes.succeeded, situation({ ...part, node }))).toEqual({
          is: "end",
          status: "SUCCEEDED",
          effect: "done",
          certain: true,
          output: "1",
        });
      }
    },
  );

  test.each([first, afterCertain, afterOpen, spent(afterOpen)])(
    "an output that breaks its schema is FAILED with its effect done, and never tried again: %#",
    (node) => {
      for (const part of circumstances) {
        expect(nextStep(outcomes.bad_output, situation({ ...part, node }))).toEqual({
          is: "end",
          status: "FAILED",
          effect: "done",
          certain: true,
          output: "2",
          error,
        });
      }
    },
  );

  test.each([
    ["permanent", "FAILED"],
    ["cancelled", "CANCELLED"],
    ["expired", "EXPIRED"],
  ] as const)("%s is certain of its own attempt only: an earlier open one keeps the effect unknown", (name, status) => {
    for (const part of circumstances) {
      for (const node of [first, afterCertain]) {
        expect(nextStep(outcomes[name], situation({ ...part, node }))).toEqual({
          is: "end",
          status,
          effect: "none",
          certain: true,
          error,
        });
      }
      expect(nextStep(outcomes[name], situation({ ...part, node: afterOpen }))).toEqual({
        is: "end",
        status,
        effect: "unknown",
        certain: false,
        error,
      });
    }
  });
});

test("a tool that was not called gives its attempt back, certain only if nothing earlier is open", () => {
  for (const node of [first, afterCertain, afterOpen]) {
    expect(nextStep(outcomes.not_started, situation({ node }))).toEqual({
      is: "again",
      name: "put_back",
      notBeforeMs: startMs + 7,
      certain: node !== afterOpen,
      counts: false,
    });
  }
});

describe("an outcome after which the node may be tried again", () => {
  const rows: [keyof Pick<typeof outcomes, "retryable" | "unknown">, NodeItem, "none" | "unknown"][] = [
    ["retryable", first, "none"],
    ["retryable", afterCertain, "none"],
    ["retryable", afterOpen, "unknown"],
    ["unknown", first, "unknown"],
    ["unknown", afterCertain, "unknown"],
    ["unknown", afterOpen, "unknown"],
  ];
  test.each(rows)(
    "%s: again while attempts last; else the end, whose effect says what is known: %#",
    (name, node, effect) => {
      const certain = effect === "none";
      const outcome = outcomes[name];
      const end = { is: "end", effect, certain, error };
      expect(nextStep(outcome, situation({ node }))).toMatchObject({ is: "again", certain, counts: true, error });
      expect(nextStep(outcome, situation({ node, runCancelled: true }))).toEqual({ ...end, status: "CANCELLED" });
      expect(nextStep(outcome, situation({ node: { ...node, attempts_used: 5 } }))).toEqual({
        ...end,
        status: "FAILED",
      });
      expect(nextStep(outcome, situation({ node: { ...node, attempts_used: 6 } }))).toEqual({
        ...end,
        status: "FAILED",
      });
      expect(nextStep(outcome, situation({ node: { ...node, attempts_used: 4 } }))).toMatchObject({ is: "again" });
      expect(nextStep(outcome, situation({ node, nowMs: node.deadline_at_ms }))).toEqual({ ...end, status: "EXPIRED" });
      expect(nextStep(outcome, situation({ node, nowMs: node.deadline_at_ms - 1 }))).toMatchObject({ is: "again" });
    },
  );

  test("a cancelled run ends it as CANCELLED though its deadline is over too, and EXPIRED stands before FAILED", () => {
    const node = { ...first, attempts_used: 5 };
    const nowMs = node.deadline_at_ms;
    expect(nextStep(outcomes.unknown, situation({ node, nowMs, runCancelled: true }))).toMatchObject({
      status: "CANCELLED",
    });
    expect(nextStep(outcomes.unknown, situation({ node, nowMs }))).toMatchObject({ status: "EXPIRED" });
  });

  test("it waits for a part of the back-off of the attempts used, by the tool's policy", () => {
    const notBefore = (part: Partial<Situation>): unknown =>
      Reflect.get(nextStep(outcomes.unknown, situation(part)), "notBeforeMs");
    expect(notBefore({})).toBe(startMs + 500);
    expect(notBefore({ fraction: 0 })).toBe(startMs);
    expect(notBefore({ node: { ...first, attempts_used: 3 } })).toBe(startMs + 2_000);
    expect(notBefore({ tool: toolWith({ retry: { backoffBaseMs: 100 } }) })).toBe(startMs + 50);
  });

  test("the delay that a RetryableError asks for stands before the back-off, and is not jittered", () => {
    const asked = { ...outcomes.retryable, retryAfterMs: 90_001 };
    expect(nextStep(asked, situation())).toMatchObject({ notBeforeMs: startMs + 90_001 });
    expect(nextStep({ ...asked, retryAfterMs: 0 }, situation())).toMatchObject({ notBeforeMs: startMs });
  });
});

/** Claimed to look an open attempt up, for the first time. */
const lookingUp = runningWith({ epoch: 2, certain_through_epoch: 0, reconciles_used: 1 });
const reconcilable = toolWith({ effect: "reconcilable", reconcile: async () => ({ is: "unknown" }) });
const once = toolWith({ effect: "at_most_once" });
const nothingFound = { is: "found_nothing", error } as const;
/** None of these may end a careful node whose attempt is open. */
const hopeless: readonly Partial<Situation>[] = [
  {},
  { runCancelled: true },
  { nowMs: first.deadline_at_ms + 1 },
  { runCancelled: true, nowMs: first.deadline_at_ms + 1 },
];

describe("an unknown outcome, by class (design section 6)", () => {
  test.each(["read_only", "idempotent"] as const)("%s is tried again, and stays open", (effect) => {
    expect(nextStep(outcomes.unknown, situation({ tool: toolWith({ effect }) }))).toEqual({
      is: "again",
      name: "retry",
      notBeforeMs: startMs + 500,
      certain: false,
      counts: true,
      error,
    });
  });

  test("at_most_once is in doubt, whatever deadline, cancel and attempts say", () => {
    for (const part of hopeless) {
      for (const node of [first, { ...first, attempts_used: 5 }]) {
        expect(nextStep(outcomes.unknown, situation({ ...part, node, tool: once }))).toEqual({
          is: "doubt",
          why: "the tool failed and did not say that nothing happened",
          error,
        });
      }
    }
  });

  test("reconcilable comes back to be looked up, and not before this invocation is surely over", () => {
    for (const part of hopeless) {
      for (const node of [first, { ...first, attempts_used: 5 }]) {
        const now = part.nowMs ?? startMs;
        const step = nextStep(outcomes.unknown, situation({ ...part, node, tool: reconcilable, fraction: 0 }));
        expect(step).toEqual({
          is: "again",
          name: "retry",
          notBeforeMs: Math.max(now, startMs + 302_000),
          certain: false,
          counts: true,
          error,
        });
      }
    }
    const slow = { ...reconcilable, retry: { backoffBaseMs: 900_000, backoffMaxMs: 900_000 } };
    expect(nextStep(outcomes.unknown, situation({ tool: slow }))).toMatchObject({ notBeforeMs: startMs + 450_000 });
  });

  test.each([reconcilable, once])("a careful tool's certain error says that nothing happened: %#", (tool) => {
    expect(nextStep(outcomes.retryable, situation({ tool }))).toMatchObject({ is: "again", certain: true });
    expect(nextStep(outcomes.permanent, situation({ tool }))).toMatchObject({
      is: "end",
      status: "FAILED",
      effect: "none",
      certain: true,
    });
  });
});

describe("what reconcile found out", () => {
  test("not done: READY again at once and certain, and the claim says whether it may run", () => {
    for (const part of hopeless) {
      for (const node of [lookingUp, { ...lookingUp, attempts_used: 5 }]) {
        expect(nextStep({ is: "found_not_done" }, situation({ ...part, node, tool: reconcilable }))).toEqual({
          is: "again",
          name: "not_done",
          notBeforeMs: part.nowMs ?? startMs,
          certain: true,
          counts: true,
        });
      }
    }
  });

  test("nothing: asked again after a back-off of its own, and still open, while its budget lasts", () => {
    const tool = { ...reconcilable, reconcileRetry: { attempts: 3, backoffBaseMs: 100, backoffMaxMs: 300 } };
    const stepAfter = (used: number, part: Partial<Situation> = {}) =>
      nextStep(nothingFound, situation({ ...part, tool, node: { ...lookingUp, reconciles_used: used } }));
    for (const part of hopeless) {
      expect(stepAfter(1, part)).toEqual({
        is: "again",
        name: "reconcile_later",
        notBeforeMs: (part.nowMs ?? startMs) + 50,
        certain: false,
        counts: true,
        error,
      });
    }
    expect(stepAfter(2)).toMatchObject({ is: "again", notBeforeMs: startMs + 100 });
    for (const used of [3, 4]) {
      expect(stepAfter(used)).toEqual({ is: "doubt", why: `reconcile could not tell in ${used} calls`, error });
    }
  });

  test("nothing: without a policy of its own the limits are its budget", () => {
    const stepAfter = (used: number) =>
      nextStep(nothingFound, situation({ tool: reconcilable, node: { ...lookingUp, reconciles_used: used } }));
    expect([stepAfter(9).is, stepAfter(10).is]).toEqual(["again", "doubt"]);
  });

  test("done: the end, which settles every attempt before", () => {
    expect(nextStep(outcomes.succeeded, situation({ node: lookingUp, tool: reconcilable }))).toMatchObject({
      status: "SUCCEEDED",
      effect: "done",
      certain: true,
    });
  });
});

test("a repeat that comes too late for its key is in doubt, whatever deadline and attempts say", () => {
  for (const part of hopeless) {
    expect(nextStep({ is: "too_late", why: "w" }, situation({ ...part, node: afterOpen }))).toEqual({
      is: "doubt",
      why: "w",
    });
  }
});
