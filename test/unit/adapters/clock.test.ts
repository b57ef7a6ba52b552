import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { systemChance } from "../../../shared/adapters/chance.ts";
import { systemClock } from "../../../shared/adapters/clock.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance", "Date"] });
});
afterEach(() => {
  vi.useRealTimers();
});

async function hasEnded(sleeping: Promise<void>): Promise<boolean> {
  let ended = false;
  void sleeping.then(() => {
    ended = true;
  });
  await Promise.resolve();
  await Promise.resolve();
  return ended;
}

test("a sleep lasts as long as asked and leaves no timer", async () => {
  const sleeping = systemClock.sleep(1_000);
  vi.advanceTimersByTime(999);
  expect(await hasEnded(sleeping)).toBe(false);
  vi.advanceTimersByTime(1);
  expect(await hasEnded(sleeping)).toBe(true);
  expect(vi.getTimerCount()).toBe(0);
});

test("an abort ends the sleep at once and clears its timer; so does one that came before", async () => {
  const stop = new AbortController();
  const sleeping = systemClock.sleep(1_000, stop.signal);
  stop.abort();
  expect(await hasEnded(sleeping)).toBe(true);
  expect(await hasEnded(systemClock.sleep(1_000, stop.signal))).toBe(true);
  expect(vi.getTimerCount()).toBe(0);
});

test.each([0, -5, Number.NaN])("a sleep of %d ms is over at once", async (ms) => {
  expect(await hasEnded(systemClock.sleep(ms))).toBe(true);
});

test("a sleep longer than a timer can be is not over at once", async () => {
  const month = 30 * 86_400_000;
  const sleeping = systemClock.sleep(month);
  vi.advanceTimersByTime(month - 1);
  expect(await hasEnded(sleeping)).toBe(false);
  vi.advanceTimersByTime(1);
  expect(await hasEnded(sleeping)).toBe(true);
});

test("fractions lie from 0 to below 1, and ids are short ASCII and never the same", () => {
  const ids = Array.from({ length: 1_000 }, () => systemChance.id());
  expect(new Set(ids).size).toBe(1_000);
  for (const id of ids) expect(id).toMatch(/^[\w-]{22}$/);
  for (let n = 0; n < 1_000; n += 1) {
    const fraction = systemChance.fraction();
    expect(fraction >= 0 && fraction < 1).toBe(true);
  }
});
