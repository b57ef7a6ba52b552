/** Steps inside one node: what is remembered is not run again, and what may have run is handled by its class. */
import { describe, expect, test } from "vitest";
import { RetryableError } from "../../../shared/errors.ts";
import { journalKey, nodeKey, operationIdOf, stepOperationIdOf } from "../../../shared/keys.ts";
import { fixed } from "../../../shared/limits.ts";
import type { AnyTool, StepOptions, ToolContext } from "../../../shared/tool.ts";
import { itemOf, nodeWith, startMs } from "../../support/world.ts";
import { setupWorker, type WorkerSetup } from "./worker-parts.ts";

type Attempt = (context: ToolContext) => Promise<unknown>;

/** A node whose attempts each do what stands at their place; the last one is repeated. */
function setupAttempts(attempts: readonly Attempt[], tool: Partial<AnyTool> = {}) {
  let made = 0;
  const worker = setupWorker({
    items: [itemOf(nodeWith({ max_attempts: 9 }))],
    tool: { retry: { backoffBaseMs: 1, backoffMaxMs: 1 }, ...tool },
    execute: (_input, context) => {
      const attempt = attempts[Math.min(made, attempts.length - 1)];
      made += 1;
      return attempt?.(context);
    },
  });
  return {
    ...worker,
    node: () => worker.world.node("a"),
    journal: () => worker.world.memory.get(journalKey("r", "a")),
  };
}

/** One attempt after another, each by the message of its dispatch. */
async function attempt(
  { world, deliver }: Pick<WorkerSetup, "world" | "deliver">,
  times: number,
  pauseMs = 10_000,
): Promise<void> {
  for (let time = 0; time < times; time++) {
    world.clock.stall(pauseMs);
    await deliver({ dispatchId: (await world.node("a")).dispatch_id, messageId: `m-${time}` });
  }
}

/** The process dies at the commit: nothing of the attempt is recorded but its steps. */
const diesBeforeItsCommit = async (setup: ReturnType<typeof setupAttempts>): Promise<void> => {
  setup.world.table.strike("end_succeeded", "throws");
  await setup.deliver().catch(() => undefined);
  setup.world.clock.stall(400_000);
};

const counted = () => {
  const ran: string[] = [];
  return {
    ran,
    step: (context: ToolContext, name: string, options?: StepOptions<string>) =>
      context.step(
        name,
        async ({ operationId }) => {
          ran.push(name);
          return operationId;
        },
        options,
      ),
  };
};

describe("a step that is remembered", () => {
  test("is not run again in a later attempt, which gets the same value", async () => {
    const { ran, step } = counted();
    const seen: string[] = [];
    const setup = setupAttempts([
      async (context) => {
        seen.push(await step(context, "pay"));
        throw new RetryableError("once more");
      },
      async (context) => {
        seen.push(await step(context, "pay"));
        return { ok: true };
      },
    ]);
    await attempt(setup, 2);
    expect(ran).toEqual(["pay"]);
    expect(new Set(seen).size).toBe(1);
    expect(await setup.node()).toMatchObject({ status: "SUCCEEDED", epoch: 2 });
  });

  test("costs one write of one item, and no transaction", async () => {
    const { step } = counted();
    const setup = setupAttempts([
      async (context) => {
        await step(context, "one");
        await step(context, "two");
        return { ok: true };
      },
    ]);
    await attempt(setup, 1);
    expect(setup.world.table.sent).toEqual(["claim", "create_journal", "remember_step", "end_succeeded+end_run"]);
  });

  test("has an operation id of its own, the same in every attempt", async () => {
    const ids: string[] = [];
    const once: Attempt = async (context) => {
      await context.step("pay", async ({ operationId }) => {
        ids.push(operationId);
        throw new Error("nobody knows");
      });
    };
    const setup = setupAttempts([once, once, async () => ({ ok: true })]);
    await attempt(setup, 2);
    const own = stepOperationIdOf(operationIdOf("test", "r", "g", "a"), "pay");
    expect(ids).toEqual([own, own]);
    expect(own).toMatch(/^[0-9a-f]{64}$/);
  });

  test("gives its value as it comes back from JSON, also the first time", async () => {
    const value = { n: 1, list: [1, 2] };
    let got: unknown;
    const setup = setupAttempts([
      async (context) => {
        got = await context.step("pay", async () => value);
        value.n = 2;
        return { ok: true };
      },
    ]);
    await attempt(setup, 1);
    expect(got).toEqual({ n: 1, list: [1, 2] });
    expect(got).not.toBe(value);
  });

  test("that gives nothing back is remembered too", async () => {
    let runs = 0;
    const nothing: Attempt = async (context) => {
      const value = await context.step("mark", async () => {
        runs += 1;
      });
      expect(value).toBeUndefined();
      if (runs === 1 && context.attempt === 1) throw new RetryableError("again");
      return { ok: true };
    };
    const setup = setupAttempts([nothing, nothing]);
    await attempt(setup, 2);
    expect(runs).toBe(1);
  });

  test("survives a process that died before its attempt was recorded", async () => {
    const { ran, step } = counted();
    const both: Attempt = async (context) => {
      await step(context, "pay");
      return { ok: true };
    };
    const setup = setupAttempts([both, both]);
    await diesBeforeItsCommit(setup);
    await attempt(setup, 1);
    expect(ran).toEqual(["pay"]);
    expect(await setup.node()).toMatchObject({ status: "SUCCEEDED", epoch: 2 });
  });

  test("makes the effect of a node that fails afterwards more than none (I14)", async () => {
    const { step } = counted();
    const setup = setupAttempts([
      async (context) => {
        await step(context, "pay");
        throw Object.assign(new Error("no"), { code: "LEASEHOLD_NON_RETRYABLE" });
      },
    ]);
    await attempt(setup, 1);
    expect(await setup.node()).toMatchObject({ status: "FAILED", effect: "done" });
  });

  test("and changes nothing leaves the effect of a node that fails none", async () => {
    const { step } = counted();
    const setup = setupAttempts([
      async (context) => {
        await step(context, "look", { effect: "read_only" });
        throw Object.assign(new Error("no"), { code: "LEASEHOLD_NON_RETRYABLE" });
      },
    ]);
    await attempt(setup, 1);
    expect(await setup.node()).toMatchObject({ status: "FAILED", effect: "none" });
  });
});

describe("steps side by side", () => {
  test("are all remembered, whichever ends first", async () => {
    const { ran, step } = counted();
    const all: Attempt = async (context) => {
      await Promise.all(["one", "two", "three"].map((name) => step(context, name)));
      if (context.attempt === 1) throw new RetryableError("again");
      return { ok: true };
    };
    const setup = setupAttempts([all, all]);
    await attempt(setup, 2);
    expect(ran.sort()).toEqual(["one", "three", "two"]);
    expect(Object.keys((await setup.journal()) ?? {}).filter((name) => name.startsWith("step_"))).toHaveLength(3);
  });

  test("that the tool does not wait for end before its outcome is recorded", async () => {
    let isOver = false;
    const setup = setupAttempts([
      async (context) => {
        void context.step("late", async () => {
          await setup.world.clock.sleep(3_000);
          isOver = true;
        });
        return { ok: true };
      },
    ]);
    let wasOverAtCommit = false;
    setup.world.table.strike("end_succeeded", () => {
      wasOverAtCommit = isOver;
    });
    await attempt(setup, 1);
    expect(wasOverAtCommit).toBe(true);
  });
});

describe("a tool that asks for other steps than before is told so", () => {
  const errorOf = async (first: Attempt, second: Attempt): Promise<string> => {
    const setup = setupAttempts([first, second]);
    await attempt(setup, 2);
    return (await setup.node()).error ?? "";
  };
  const { step } = counted();
  const again = new RetryableError("again");

  test("when a name stands twice", async () => {
    const setup = setupAttempts([
      async (context) => {
        await step(context, "pay");
        await step(context, "pay");
      },
    ]);
    await attempt(setup, 1);
    expect((await setup.node()).error).toContain("step_repeated");
  });

  test("when the order has changed", async () => {
    const error = await errorOf(
      async (context) => {
        await step(context, "one");
        await step(context, "two");
        throw again;
      },
      async (context) => {
        await step(context, "two");
      },
    );
    expect(error).toContain("step_reordered");
    expect(error).toContain("one");
  });

  test("when one has moved to another place", async () => {
    const error = await errorOf(
      async (context) => {
        await step(context, "one");
        throw again;
      },
      async (context) => {
        await Promise.allSettled([step(context, "new"), step(context, "one")]);
        return step(context, "two");
      },
    );
    expect(error).toMatch(/step_(reordered|vanished)/);
  });

  test("when one has vanished, and its success is not taken for one", async () => {
    const error = await errorOf(
      async (context) => {
        await step(context, "one");
        throw again;
      },
      async () => ({ ok: true }),
    );
    expect(error).toContain("step_vanished");
  });

  test.each<[string, unknown, string]>([
    ["an empty name", "", "step_name"],
    ["a name that is too long", "x".repeat(300), "step_name"],
  ])("when it gives %s", async (_what, name, code) => {
    const setup = setupAttempts([(context) => step(context, name as string)]);
    await attempt(setup, 1);
    expect((await setup.node()).error).toContain(code);
  });

  test.each<[string, unknown]>([
    ["a Date", new Date(0)],
    ["NaN", Number.NaN],
    ["a Map", new Map()],
    ["too much", "x".repeat(fixed.stepBytes)],
  ])("when it gives back %s", async (_what, value) => {
    const setup = setupAttempts([(context) => context.step("pay", async () => value)]);
    await attempt(setup, 1);
    expect((await setup.node()).error).toContain("step_value");
  });

  test("when reconcile is given to a class that never asks it", async () => {
    const setup = setupAttempts([(context) => step(context, "pay", { reconcile: async () => ({ is: "not_done" }) })]);
    await attempt(setup, 1);
    expect((await setup.node()).error).toContain("step_effect");
  });
});

/** Longer than an invocation and the skew bound. */
const ownerDeadMs = 400_000;

describe("a step that may have run and is not remembered", () => {
  /** The first attempt's step acts, and its process dies before it can be remembered. */
  const setupDead = (options: StepOptions<string>, second?: Attempt) => {
    const { ran, step } = counted();
    const first: Attempt = (context) => step(context, "pay", options);
    const setup = setupAttempts([first, second ?? first]);
    setup.world.table.strike("create_journal", () => {
      throw new Error("the process died");
    });
    return { ...setup, ran };
  };

  test("is run again under the same id where it is idempotent", async () => {
    const setup = setupDead({ effect: "idempotent" }, async (context) => {
      await context.step("pay", async () => "again");
      return { ok: true };
    });
    await attempt(setup, 2);
    expect(await setup.node()).toMatchObject({ status: "SUCCEEDED" });
  });

  test("brings its node in doubt where it is at_most_once, even if the tool catches the error", async () => {
    let ranAgain = false;
    const setup = setupDead({ effect: "at_most_once" }, async (context) => {
      await context
        .step(
          "pay",
          async () => {
            ranAgain = true;
          },
          { effect: "at_most_once" },
        )
        .catch(() => undefined);
      return { ok: true };
    });
    await attempt(setup, 3, ownerDeadMs);
    expect(ranAgain).toBe(false);
    const node = await setup.node();
    expect(node.status).toBe("IN_DOUBT");
    expect(node.doubt).toContain("pay");
  });

  test("is looked up where it is reconcilable, and what is found is remembered", async () => {
    let ranAgain = false;
    const lookedUp: StepOptions<string> = {
      effect: "reconcilable",
      reconcile: async () => ({ is: "done", output: "found" }),
    };
    const setup = setupDead(lookedUp, async (context) => {
      const value = await context.step(
        "pay",
        async () => {
          ranAgain = true;
          return "again";
        },
        lookedUp,
      );
      return { value };
    });
    await attempt(setup, 3, ownerDeadMs);
    expect(ranAgain).toBe(false);
    expect((await setup.node()).output).toBe('{"value":"found"}');
    expect(JSON.stringify(await setup.journal())).toContain("found");
  });

  test("is asked about only once its former owner is surely dead, and the attempt that waits for that is given back", async () => {
    let asked = 0;
    const setup = setupDead({
      effect: "reconcilable",
      reconcile: async () => {
        asked += 1;
        return { is: "not_done" };
      },
    });
    await attempt(setup, 2);
    const waiting = await setup.node();
    expect(asked).toBe(0);
    expect(waiting).toMatchObject({ status: "READY", attempts_used: 1, certain_through_epoch: 0 });
    expect(waiting.not_before_ms).toBeGreaterThan(setup.world.clock.nowMs() + 250_000);
    await attempt(setup, 1, ownerDeadMs);
    expect(asked).toBe(1);
  });

  test.each([["not_done", ["pay", "pay"]] as const, ["unknown", ["pay"]] as const])(
    "whose look-up says %s is run %j",
    async (is, runs) => {
      const setup = setupDead({ effect: "reconcilable", reconcile: async () => ({ is }) });
      await attempt(setup, 3, ownerDeadMs);
      expect(setup.ran).toEqual(runs);
    },
  );
});

describe("a former owner", () => {
  test("can remember nothing once another has begun its steps (I2)", async () => {
    const { step } = counted();
    const setup = setupAttempts([
      async (context) => {
        await step(context, "one");
        await takenOver(setup.world, 2);
        return step(context, "two");
      },
    ]);
    await attempt(setup, 1);
    const journal = await setup.journal();
    expect(journal).toMatchObject({ epoch: 2, step_0: expect.any(String) });
    expect(journal).not.toHaveProperty("step_1");
  });

  test("is fenced off before the first step of a later attempt, also where it had none", async () => {
    const { step } = counted();
    const setup = setupAttempts([
      async () => {
        throw new RetryableError("no step yet");
      },
      async (context) => {
        await step(context, "one");
        return { ok: true };
      },
    ]);
    await attempt(setup, 2);
    expect(setup.world.table.sent.filter((name) => name.includes("journal") || name.includes("step"))).toEqual([
      "raise_journal",
      "create_journal",
      "remember_step",
    ]);
    expect(await setup.journal()).toMatchObject({ epoch: 2 });
  });

  test("that asks for a step after its attempt has ended is refused", async () => {
    let kept: ToolContext | undefined;
    const setup = setupAttempts([
      async (context) => {
        kept = context;
        return { ok: true };
      },
    ]);
    await attempt(setup, 1);
    await expect(kept?.step("late", async () => "acted")).rejects.toMatchObject({ code: "attempt_ended" });
  });
});

describe("a lost reply (I10)", () => {
  test.each(["create_journal", "remember_step"])(
    "of %s is not a failure, and the step is not run again",
    async (name) => {
      const { ran, step } = counted();
      const setup = setupAttempts([
        async (context) => {
          await step(context, "one");
          await step(context, "two");
          return { ok: true };
        },
      ]);
      setup.world.table.strike(name, "lost");
      await attempt(setup, 1);
      expect(ran).toEqual(["one", "two"]);
      expect(await setup.node()).toMatchObject({ status: "SUCCEEDED", epoch: 1 });
    },
  );
});

test("a lease to the invocation's end is taken once, right before the tool, and not renewed", async () => {
  const worker: WorkerSetup = setupWorker({
    tool: { lease: "invocation" },
    execute: async () => {
      await worker.world.clock.sleep(100_000);
      return { ok: true };
    },
  });
  await worker.deliver({ remainingMs: 290_000 });
  expect(await worker.world.node("a")).toMatchObject({ status: "SUCCEEDED", epoch: 1 });
  expect(worker.world.pulse.table.sent).toEqual(["heartbeat"]);
  expect(Math.max(...worker.world.pulse.queue.hidden.map(({ forMs }) => forMs))).toBeGreaterThan(280_000);
});

/** Another owner raises node and journal. */
async function takenOver(world: WorkerSetup["world"], epoch: number): Promise<void> {
  for (const key of [nodeKey("r", "a"), journalKey("r", "a")]) {
    const set = key.sk.startsWith("NODE#")
      ? { epoch, claim_id: "other", lease_expires_at_ms: startMs + 900_000 }
      : { epoch };
    await world.memory.write({ op: "update", name: "take_over", key, set, conditions: [] });
  }
}
