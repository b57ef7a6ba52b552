/** A worker that stood still while another took its node over: what its late write does with a fence, and without one. */
import { expect, test } from "vitest";
import { callOutside, simulate } from "../../testing/index.ts";
import { type FencedStore, fencedStore, type Stored } from "./fenced-store.ts";
import { publishPrice } from "./publish-price.ts";

/** The control: the last writer wins, whoever it is. */
function unfencedStore(): FencedStore {
  const items = new Map<string, Stored>();
  return {
    put: async (key, value, token) => void items.set(key, { value, token }),
    get: async (key) => items.get(key),
  };
}

/** Prices rise with every question, and each write is noted with what the store said. */
function surroundings(store: FencedStore) {
  let price = 9;
  const writes: string[] = [];
  const put: FencedStore["put"] = (key, value, token) =>
    callOutside("put", async () => {
      const answer = await store.put(key, value, token).catch((error: Error) => error);
      writes.push(`token ${token} puts ${value}: ${answer?.message ?? "written"}`);
      if (answer !== undefined) throw answer;
    });
  return { tools: [publishPrice({ of: async () => ++price }, { ...store, put })], writes };
}

const nodes = [{ nodeId: "publish", tool: "publish-price", input: { article: "tea" } }];

/** The first worker has read the price, and stands still for a minute right before it writes: longer than its lease of 30 s. */
async function withZombie(store: FencedStore) {
  const { calls } = await simulate({ nodes, tools: surroundings(fencedStore()).tools });
  const call = calls.findIndex(({ what }) => what === "put");
  const { tools, writes } = surroundings(store);
  const outcome = await simulate({ nodes, tools, stall: { call, forMs: 60_000 } });
  return { outcome, writes, stored: await store.get("run/publish") };
}

test("a former owner that wakes after a take-over is refused by the store", async () => {
  const { outcome, writes, stored } = await withZombie(fencedStore());
  expect(writes).toEqual([
    "token 2 puts 11: written",
    "token 1 puts 10: run/publish was written under fencing token 2, and token 1 is older",
  ]);
  expect(stored).toEqual({ value: 11, token: 2 });
  expect(outcome).toMatchObject({
    status: "SUCCEEDED",
    nodes: { publish: { status: "SUCCEEDED", attempts: 2, output: { price: 11 } } },
  });
});

test("control: without the check its old price wins, though the run knows the new one", async () => {
  const { outcome, writes, stored } = await withZombie(unfencedStore());
  expect(writes).toEqual(["token 2 puts 11: written", "token 1 puts 10: written"]);
  expect(stored).toEqual({ value: 10, token: 1 });
  expect(outcome).toMatchObject({ nodes: { publish: { output: { price: 11 } } } });
});

test("the same attempt may write again, a later one too", async () => {
  const store = fencedStore();
  await store.put("tea", 1, 1);
  await store.put("tea", 2, 1);
  await store.put("tea", 3, 2);
  await expect(store.put("tea", 4, 1)).rejects.toMatchObject({ code: "stale_token" });
  expect(await store.get("tea")).toEqual({ value: 3, token: 2 });
});
