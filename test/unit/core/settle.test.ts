import { expect, test } from "vitest";
import type { Busy, Unknown } from "../../../shared/ports.ts";
import { settle, UNSETTLED } from "../../../shared/settle.ts";
import { testWorld } from "../../support/world.ts";

const busy: Busy = { is: "busy", why: "conflict" };
const unknown: Unknown = { is: "unknown", why: "answer lost" };
const applied = { is: "applied" } as const;

/** Answers in order, the last one for ever; notes when it was asked. */
function setup(...answers: readonly (Busy | Unknown | typeof applied | { readonly is: "refused" })[]) {
  const world = testWorld();
  const askedAtMs: number[] = [];
  const send = async () => {
    askedAtMs.push(world.clock.monotonicMs());
    return answers[Math.min(askedAtMs.length, answers.length) - 1] ?? applied;
  };
  return { world, askedAtMs, run: (budgetMs: number) => world.clock.during(settle(world, budgetMs, send)) };
}

test("an answer is handed on at once, a refusal too", async () => {
  expect(await setup(applied).run(0)).toEqual(applied);
  expect(await setup({ is: "refused" }).run(0)).toEqual({ is: "refused" });
});

test("what is busy or unknown is asked again in growing pauses, a second at the longest (I10)", async () => {
  const { run, askedAtMs, world } = setup(busy, unknown, busy, busy, busy, busy, busy, busy, applied);
  world.fraction = 0;
  expect(await run(60_000)).toEqual(applied);
  const pauses = askedAtMs.slice(1).map((atMs, index) => atMs - (askedAtMs[index] ?? 0));
  expect(pauses).toEqual([13, 25, 50, 100, 200, 400, 500, 500]);
  expect([world.counts.get("WriteBusy"), world.counts.get("WriteUnknown")]).toEqual([7, 1]);
});

test("pauses are spread between half and the whole of their step", async () => {
  const { run, askedAtMs, world } = setup(busy, busy, applied);
  world.fraction = 0.999_999;
  await run(60_000);
  expect(askedAtMs).toEqual([0, 25, 75]);
});

test("no try is made that would end beyond the budget, and the error is known by its code", async () => {
  const { run, askedAtMs, world } = setup(busy);
  world.fraction = 0;
  await expect(run(39)).rejects.toMatchObject({
    code: UNSETTLED,
    message: "no answer within 39 ms: conflict",
  });
  expect(askedAtMs).toEqual([0, 13, 38]);
  const none = setup(unknown);
  await expect(none.run(0)).rejects.toMatchObject({ code: UNSETTLED });
  expect(none.askedAtMs).toEqual([0]);
});
