import { createServer, type IncomingMessage, request } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer, text } from "node:stream/consumers";
import { afterEach, describe, expect, test } from "vitest";
import { type FaultProxy, mentions, startFaultProxy } from "../../support/fault-proxy.ts";
import { isAlive, isStopped, resume, waitUntil } from "../../support/processes.ts";
import { type Caller, startCaller } from "./caller.ts";

const started: (() => void | Promise<void>)[] = [];
afterEach(async () => {
  for (const end of started.splice(0).reverse()) await end();
});

type Seen = { readonly method: string; readonly rawHeaders: readonly string[]; readonly text: string };

/** A target that answers each JSON call with its action, and anything else with what it was sent. */
async function setup(): Promise<{ proxy: FaultProxy; seen: Seen[] }> {
  const seen: Seen[] = [];
  const server = createServer(async (incoming, response) => {
    const body = await buffer(incoming);
    seen.push({ method: incoming.method ?? "", rawHeaders: incoming.rawHeaders, text: body.toString("utf8") });
    const action = incoming.headers["x-amz-target"];
    if (action === undefined) response.writeHead(201, { "X-Odd-Case": "kept" }).end(body);
    else response.writeHead(200, { "content-type": "application/x-amz-json-1.0" }).end(JSON.stringify({ action }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const proxy = await startFaultProxy({ target: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
  started.push(() => {
    server.closeAllConnections();
    server.close();
  }, proxy.stop);
  return { proxy, seen };
}

async function aCaller(): Promise<Caller> {
  const caller = await startCaller();
  started.push(caller.end);
  return caller;
}

const targetHeader = (action: string) => ({ "x-amz-target": `DynamoDB_20120810.${action}` });

async function call(proxy: FaultProxy, action: string, body: unknown = {}) {
  const reply = await fetch(proxy.url, { method: "POST", headers: targetHeader(action), body: JSON.stringify(body) });
  return { status: reply.status, body: (await reply.json()) as unknown };
}

describe("without rules", () => {
  test("a call passes unchanged and is written down with its parts, its caller and its reply", async () => {
    const [{ proxy, seen }, caller] = await Promise.all([setup(), aCaller()]);
    caller.post(proxy.url, { MessageBody: "hi" }, { "x-amz-target": "AmazonSQS.SendMessageBatch", "x-mine": "1" });
    await waitUntil(() => caller.said.length === 1, 5_000, "the reply");
    const said = { status: 200, body: JSON.stringify({ action: "AmazonSQS.SendMessageBatch" }) };
    expect(caller.said).toEqual([said]);
    expect(proxy.calls).toMatchObject([
      { index: 0, service: "SQS", action: "SendMessageBatch", body: { MessageBody: "hi" } },
    ]);
    expect(proxy.calls[0]?.reply).toEqual({ status: 200, text: said.body });
    expect(await proxy.calls[0]?.pid()).toBe(caller.pid);
    expect(seen[0]?.rawHeaders.join("\n").toLowerCase()).toContain(`host\n127.0.0.1:${proxy.port}`);
    expect(seen[0]?.rawHeaders.join("\n")).toContain("x-mine\n1");
  });

  test("many calls at once come back to whom they belong", async () => {
    const { proxy } = await setup();
    const actions = Array.from({ length: 60 }, (_, at) => `Action${at}`);
    const replies = await Promise.all(actions.map((action) => call(proxy, action)));
    expect(replies.map((reply) => reply.body)).toEqual(
      actions.map((action) => ({ action: `DynamoDB_20120810.${action}` })),
    );
    expect(new Set(proxy.calls.map(({ index }) => index)).size).toBe(60);
  });

  test("PUT, GET and HEAD pass, a big chunked body streams both ways, and headers keep their case", async () => {
    const { proxy, seen } = await setup();
    const big = "x".repeat(3_000_000);
    const reply = await new Promise<IncomingMessage>((resolve, reject) => {
      const put = request(`${proxy.url}/bucket/key?a=b`, { method: "PUT" }, resolve).on("error", reject);
      put.write(big.slice(0, 10));
      put.end(big.slice(10));
    });
    expect(reply.statusCode).toBe(201);
    expect(reply.rawHeaders).toContain("X-Odd-Case");
    expect(await text(reply)).toBe(big);
    expect((await fetch(`${proxy.url}/bucket/key`)).status).toBe(201);
    expect((await fetch(`${proxy.url}/bucket/key`, { method: "HEAD" })).status).toBe(201);
    expect(seen.map(({ method }) => method)).toEqual(["PUT", "GET", "HEAD"]);
    expect(proxy.calls[0]).toMatchObject({ service: "", action: "PUT /bucket/key?a=b", reply: { status: 201 } });
  });

  test("a caller's connection is kept open from call to call", async () => {
    const [{ proxy }, caller] = await Promise.all([setup(), aCaller()]);
    for (const n of [1, 2, 3]) {
      caller.post(proxy.url, { n }, targetHeader("GetItem"));
      await waitUntil(() => caller.said.length === n, 5_000, "the reply");
    }
    const pids = await Promise.all(proxy.calls.map((made) => made.pid()));
    expect(pids).toEqual([caller.pid, caller.pid, caller.pid]);
  });

  test("a target that cannot be reached breaks the caller's connection and not the proxy", async () => {
    const proxy = await startFaultProxy({ target: "http://127.0.0.1:1" });
    started.push(proxy.stop);
    await expect(call(proxy, "GetItem")).rejects.toThrow();
    await expect(call(proxy, "GetItem")).rejects.toThrow();
  });
});

describe("kill", () => {
  test("before: the caller dies and the target never sees the call", async () => {
    const [{ proxy, seen }, caller] = await Promise.all([setup(), aCaller()]);
    const rule = proxy.on("TransactWriteItems", { kill: "before" });
    caller.post(proxy.url, {}, targetHeader("TransactWriteItems"));
    expect(await rule.struck).toMatchObject({ pid: caller.pid, call: { index: 0 } });
    expect(await isAlive(caller.pid)).toBe(false);
    expect(seen).toEqual([]);
    expect(await call(proxy, "TransactWriteItems")).toMatchObject({ status: 200 });
  });

  test("after: the target has acted, the caller dies and hears nothing", async () => {
    const [{ proxy, seen }, caller] = await Promise.all([setup(), aCaller()]);
    const rule = proxy.on("TransactWriteItems", { kill: "after" });
    caller.post(proxy.url, {}, targetHeader("TransactWriteItems"));
    await rule.struck;
    expect(await isAlive(caller.pid)).toBe(false);
    expect(seen).toHaveLength(1);
    expect(proxy.calls[0]?.reply).toMatchObject({ status: 200 });
    expect(caller.said).toEqual([]);
  });

  test("a generated case kills at the call of its index, whatever call that is", async () => {
    const [{ proxy, seen }, caller] = await Promise.all([setup(), aCaller()]);
    const rule = proxy.arm({ action: "kill", at: 2, when: "before" });
    for (const action of ["GetItem", "UpdateItem", "Query"]) {
      caller.post(proxy.url, {}, targetHeader(action));
      await waitUntil(() => proxy.calls.some((made) => made.action === action), 5_000, action);
    }
    expect(await rule.struck).toMatchObject({ call: { index: 2, action: "Query" } });
    expect(seen).toHaveLength(2);
  });

  test("the test's own process is never killed: the strike is refused and its call broken", async () => {
    const { proxy } = await setup();
    const rule = proxy.on("GetItem", { kill: "before" });
    await expect(call(proxy, "GetItem")).rejects.toThrow();
    await expect(rule.struck).rejects.toThrow("refusing");
  });
});

describe("stop", () => {
  test("before: the call waits with its process and goes on when that is continued", async () => {
    const [{ proxy, seen }, caller] = await Promise.all([setup(), aCaller()]);
    const rule = proxy.on("UpdateItem", { stop: "before" });
    caller.post(proxy.url, {}, targetHeader("UpdateItem"));
    const { pid } = await rule.struck;
    expect(pid).toBe(caller.pid);
    expect(await isStopped(caller.pid)).toBe(true);
    expect(seen).toEqual([]);
    await resume(caller.pid);
    await waitUntil(() => caller.said.length === 1, 5_000, "the reply");
    expect(seen).toHaveLength(1);
  });

  test("after: the target has acted; the process finds the reply when it wakes", async () => {
    const [{ proxy, seen }, caller] = await Promise.all([setup(), aCaller()]);
    const rule = proxy.on("UpdateItem", { stop: "after" });
    caller.post(proxy.url, {}, targetHeader("UpdateItem"));
    await rule.struck;
    expect(seen).toHaveLength(1);
    expect(caller.said).toEqual([]);
    await rule.release();
    await waitUntil(() => caller.said.length === 1, 5_000, "the reply");
  });

  test("a reset continues what was stopped", async () => {
    const [{ proxy }, caller] = await Promise.all([setup(), aCaller()]);
    const rule = proxy.on("UpdateItem", { stop: "before" });
    caller.post(proxy.url, {}, targetHeader("UpdateItem"));
    await rule.struck;
    await proxy.reset();
    expect(await isStopped(caller.pid)).toBe(false);
    expect(proxy.calls).toEqual([]);
    await waitUntil(() => caller.said.length === 1, 5_000, "the reply");
  });
});

describe("other faults", () => {
  test("fail answers an AWS error with its fields, and the target never sees the call", async () => {
    const { proxy, seen } = await setup();
    const fields = { CancellationReasons: [{ Code: "TransactionConflict" }] };
    proxy.on("TransactWriteItems", { fail: { status: 400, type: "TransactionCanceledException", fields } });
    const body = { __type: "TransactionCanceledException", message: "TransactionCanceledException", ...fields };
    expect(await call(proxy, "TransactWriteItems")).toEqual({ status: 400, body });
    expect(seen).toEqual([]);
  });

  test("swallow lets the target act and breaks the connection", async () => {
    const { proxy, seen } = await setup();
    const rule = proxy.on("UpdateItem", { swallow: true });
    await expect(call(proxy, "UpdateItem")).rejects.toThrow();
    await rule.struck;
    expect(seen).toHaveLength(1);
    expect(proxy.calls[0]?.reply).toMatchObject({ status: 200 });
  });

  test("delay brings the call to the target later, and others pass meanwhile", async () => {
    const { proxy, seen } = await setup();
    proxy.on("UpdateItem", { delayMs: 200 });
    const late = call(proxy, "UpdateItem", { late: true });
    await waitUntil(() => proxy.calls.length === 1, 2_000, "the late call");
    await call(proxy, "GetItem", { early: true });
    await late;
    expect(seen.map((each) => each.text)).toEqual([JSON.stringify({ early: true }), JSON.stringify({ late: true })]);
  });

  test.each([
    { when: "before", reached: 0 },
    { when: "after", reached: 1 },
  ] as const)("hold $when keeps the caller waiting until it is released", async ({ when, reached }) => {
    const { proxy, seen } = await setup();
    const rule = proxy.on("SendMessage", { hold: when });
    const held = call(proxy, "SendMessage");
    await rule.struck;
    expect(seen).toHaveLength(reached);
    await rule.release();
    expect(await held).toMatchObject({ status: 200 });
    expect(seen).toHaveLength(1);
  });

  test("a held call of a caller that has died reaches the target all the same, as a request on the wire would", async () => {
    const [{ proxy, seen }, caller] = await Promise.all([setup(), aCaller()]);
    const rule = proxy.on("UpdateItem", { hold: "before" });
    caller.post(proxy.url, {}, targetHeader("UpdateItem"));
    await rule.struck;
    caller.end();
    await waitUntil(async () => !(await isAlive(caller.pid)), 5_000, "the caller's death");
    await rule.release();
    await waitUntil(() => seen.length === 1, 5_000, "the late call");
    expect(await call(proxy, "GetItem")).toMatchObject({ status: 200 });
  });
});

describe("which call is struck", () => {
  const fail = { fail: { status: 500, type: "InternalServerError" } };

  test("the first that fits the action and the body, and no other", async () => {
    const { proxy } = await setup();
    proxy.on({ action: "UpdateItem", where: mentions("NODE#buy", "claim") }, fail);
    expect(await call(proxy, "UpdateItem", { key: "NODE#buy" })).toMatchObject({ status: 200 });
    expect(await call(proxy, "PutItem", { key: "NODE#buy", claim: 1 })).toMatchObject({ status: 200 });
    expect(await call(proxy, "UpdateItem", { key: "NODE#buy", claim: 1 })).toMatchObject({ status: 500 });
    expect(await call(proxy, "UpdateItem", { key: "NODE#buy", claim: 1 })).toMatchObject({ status: 200 });
  });

  test("the n-th, or each", async () => {
    const { proxy } = await setup();
    proxy.on({ action: "GetItem", nth: 2 }, fail);
    const each = proxy.on({ action: "Query", nth: "always" }, fail);
    const statuses = [];
    for (const action of ["GetItem", "GetItem", "GetItem", "Query", "Query"])
      statuses.push((await call(proxy, action)).status);
    expect(statuses).toEqual([200, 500, 200, 500, 500]);
    expect(each.strikes.map(({ call: struck }) => struck.index)).toEqual([3, 4]);
  });

  test("after a reset the count starts anew and former rules are gone", async () => {
    const { proxy } = await setup();
    proxy.on({ action: "GetItem", nth: "always" }, fail);
    await call(proxy, "GetItem");
    await proxy.reset();
    proxy.on({ at: 1 }, fail);
    expect((await call(proxy, "GetItem")).status).toBe(200);
    expect((await call(proxy, "GetItem")).status).toBe(500);
  });
});
