import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { isAlive, kill, waitUntil } from "../../support/processes.ts";
import { type Provider, startProvider } from "../../support/provider.ts";
import { startCaller } from "./caller.ts";

let provider: Provider;
beforeEach(async () => {
  provider = await startProvider();
});
afterEach(() => provider.stop());

const order = { customer: "ada", amount: 25 };

async function post(path: string, body: unknown, headers: { [name: string]: string } = {}) {
  const reply = await fetch(provider.url + path, { method: "POST", headers, body: JSON.stringify(body) });
  return { status: reply.status, retryAfter: reply.headers.get("retry-after"), body: (await reply.json()) as unknown };
}

describe("the ledger", () => {
  test("a repeat under the same key is a second call, no second effect, and gets the first answer", async () => {
    const first = await post("/vouchers", order, { "Idempotency-Key": "op", "Fencing-Token": "1" });
    const second = await post("/vouchers", order, { "Idempotency-Key": "op", "Fencing-Token": "2" });
    expect(second).toEqual(first);
    expect(provider.callsOf("/vouchers")).toMatchObject([
      { sequence: 1, operationId: "op", fencingToken: 1, body: order },
      { sequence: 2, operationId: "op", fencingToken: 2 },
    ]);
    expect(provider.effects).toEqual([{ path: "/vouchers", operationId: "op", sequence: 1, answer: first.body }]);
  });

  test("a key of its own for each attempt makes two effects with different codes", async () => {
    const first = await post("/vouchers", order, { "Idempotency-Key": "op:1", "Attempt-Key": "op:1" });
    const second = await post("/vouchers", order, { "Idempotency-Key": "op:2", "Attempt-Key": "op:2" });
    expect(provider.effectsOf("/vouchers")).toHaveLength(2);
    expect([first.body, second.body]).toMatchObject([{ code: "VOUCHER-1" }, { code: "VOUCHER-2" }]);
    expect(provider.calls.map((call) => call.attemptKey)).toEqual(["op:1", "op:2"]);
  });

  test("no key at all makes an effect each time", async () => {
    await post("/vouchers", order);
    await post("/vouchers", order);
    expect(provider.effects).toHaveLength(2);
  });

  test("a key that comes back with another path or body is refused and makes nothing", async () => {
    await post("/vouchers", order, { "Idempotency-Key": "op" });
    expect(await post("/vouchers", { ...order, amount: 26 }, { "Idempotency-Key": "op" })).toMatchObject({
      status: 422,
    });
    expect(await post("/ledger/a", order, { "Idempotency-Key": "op" })).toMatchObject({ status: 422 });
    expect(provider.effects).toHaveLength(1);
  });

  test("calls of different names share one sequence, and carry the node's id", async () => {
    const id = "ä/1 #";
    await post(`/ledger/${encodeURIComponent(id)}`, {}, { "Node-Id": encodeURIComponent(id) });
    expect(await post("/ledger/b", {})).toMatchObject({ status: 200, body: { name: "b" } });
    expect(provider.calls).toMatchObject([
      { sequence: 1, nodeId: id, path: `/ledger/${encodeURIComponent(id)}` },
      { sequence: 2, path: "/ledger/b" },
    ]);
  });

  test("a bad body is refused and makes nothing; the whole ledger can be read over HTTP", async () => {
    expect(await post("/mails", { customer: "ada" })).toMatchObject({ status: 400 });
    expect(await post("/nowhere", {})).toMatchObject({ status: 404 });
    const read = await fetch(provider.url).then((reply) => reply.json());
    expect(read).toMatchObject({ calls: [{ path: "/mails" }], effects: [] });
  });
});

describe("told to misbehave", () => {
  test("a failure before acting makes no effect, one after acting makes it and does not say so", async () => {
    provider.tell("/vouchers", { fail: { status: 503, when: "before", retryAfter: "7" } }, 1);
    provider.tell("/vouchers", { fail: { status: 500, when: "after" } }, 2);
    const key = { "Idempotency-Key": "op" };
    expect(await post("/vouchers", order, key)).toMatchObject({ status: 503, retryAfter: "7" });
    expect(provider.effects).toHaveLength(0);
    expect(await post("/vouchers", order, key)).toMatchObject({ status: 500 });
    expect(provider.effects).toHaveLength(1);
    expect(await post("/vouchers", order, key)).toMatchObject({ status: 200, body: { code: "VOUCHER-1" } });
    expect(provider.effects).toHaveLength(1);
  });

  test("slow on every call but the one that is told otherwise", async () => {
    provider.tell("/ledger/a", { slowMs: 150 });
    provider.tell("/ledger/a", {}, 2);
    const startedAt = performance.now();
    await post("/ledger/a", {});
    const betweenAt = performance.now();
    await post("/ledger/a", {});
    expect(betweenAt - startedAt).toBeGreaterThanOrEqual(140);
    expect(performance.now() - betweenAt).toBeLessThan(140);
  });

  test("a hanging call has acted, and answers once it is released", async () => {
    provider.tell("/vouchers", { hang: true }, 1);
    const pending = post("/vouchers", order, { "Idempotency-Key": "op" });
    await waitUntil(() => provider.effects.length === 1, 2_000, "the effect");
    const early = await Promise.race([pending, new Promise((resolve) => setTimeout(resolve, 100, "nothing yet"))]);
    expect(early).toBe("nothing yet");
    provider.release();
    expect(await pending).toMatchObject({ status: 200 });
  });
});

describe("waiting for calls", () => {
  test("whenCalled resolves for a call to come and for one that has come, and rejects at the end", async () => {
    const coming = provider.whenCalled("/ledger/a", 2);
    const never = provider.whenCalled("/ledger/a", 3);
    await post("/ledger/a", { n: 1 });
    await post("/ledger/a", { n: 2 });
    expect(await coming).toMatchObject({ body: { n: 2 } });
    expect(await provider.whenCalled("/ledger/a", 1)).toMatchObject({ body: { n: 1 } });
    await provider.stop();
    await expect(never).rejects.toThrow("stopped before call 3 of /ledger/a");
  });

  test("the caller can be killed right after the effect: it never gets the answer, and a repeat acts no more", async () => {
    const caller = await startCaller();
    provider.onActed(async (call) => {
      const pid = await call.pid();
      if (pid !== undefined) await kill(pid);
    });
    caller.post(`${provider.url}/vouchers`, order, { "Idempotency-Key": "op" });
    await waitUntil(async () => !(await isAlive(caller.pid)), 5_000, "the caller's death");
    expect(provider.effects).toHaveLength(1);
    expect(caller.said).toEqual([]);
    expect(await provider.calls[0]?.pid()).toBe(caller.pid);
    expect(await post("/vouchers", order, { "Idempotency-Key": "op" })).toMatchObject({ body: { code: "VOUCHER-1" } });
    expect(provider.effects).toHaveLength(1);
  });
});
