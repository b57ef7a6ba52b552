/** Real time in a tool's code: simulated time stands still for it, and code that waits for too long is told. */
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test, vi } from "vitest";
import { NonRetryableError } from "../../../shared/errors.ts";
import { callOutside, clock, simulate } from "../../../testing/index.ts";
import { node, toolOf } from "./fakes.ts";

afterEach(() => {
  vi.useRealTimers();
});

const run = (execute: Parameters<typeof toolOf>[0]["execute"], realWaitMs?: number) =>
  simulate({
    nodes: [node("a", "any")],
    tools: [toolOf({ name: "any", execute })],
    ...(realWaitMs === undefined ? {} : { realWaitMs }),
  });
const once = { status: "SUCCEEDED", nodes: { a: { attempts: 1 } } };

test("a long chain of promises is over before simulated time moves on", async () => {
  const outcome = await run(async () => {
    for (let count = 0; count < 10_000; count++) await Promise.resolve();
    return { atMs: clock.nowMs() };
  });
  expect(outcome).toMatchObject(once);
  expect(outcome.tookMs).toBeLessThan(1_000);
});

test("a real timer, an immediate and a file are waited for, and no simulated time goes by", async () => {
  const outcome = await run(async () => {
    const before = clock.monotonicMs();
    await new Promise((resolve) => setTimeout(resolve, 30));
    await new Promise((resolve) => setImmediate(resolve));
    const text = await readFile(import.meta.filename, "utf8");
    return { read: text.length > 0, passedMs: clock.monotonicMs() - before };
  });
  expect(outcome).toMatchObject({ ...once, nodes: { a: { attempts: 1, output: { read: true, passedMs: 0 } } } });
});

test("real time inside a step and inside a call to the outside is waited for too", async () => {
  const pause = () => new Promise<number>((resolve) => setTimeout(resolve, 20, 7));
  const outcome = await run(async (_input, context) => {
    const [stepped, called] = [await context.step("pause", pause), await callOutside("pause", pause)];
    return { stepped, called };
  });
  expect(outcome).toMatchObject({ ...once, nodes: { a: { attempts: 1, output: { stepped: 7, called: 7 } } } });
  expect(outcome.tookMs).toBeLessThan(1_000);
});

test("an answer over a socket that is kept alive from an earlier tool is waited for", async () => {
  const server = createServer((_request, response) => void setTimeout(() => response.end("{}"), 20)).listen(0);
  await new Promise((resolve) => server.once("listening", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const asks = toolOf({ name: "asks", execute: async () => ({ text: await (await fetch(url)).text() }) });
  const nodes = [node("a", "asks"), node("b", "asks", "a"), node("c", "asks", "b")];
  const outcome = await simulate({ nodes, tools: [asks] });
  expect(Object.values(outcome.nodes).map(({ attempts }) => attempts)).toEqual([1, 1, 1]);
  expect(outcome.tookMs).toBeLessThan(1_000);
  server.closeAllConnections();
  server.close();
});

test("a tool that waits for real time for longer than it may is named, with what it waits for", async () => {
  const forEver = async () => {
    const timer = setInterval(() => undefined, 10);
    await new Promise((resolve) => setTimeout(resolve, 400));
    clearInterval(timer);
    return {};
  };
  await expect(run(forEver, 100)).rejects.toThrow(
    'tool "any" of node "a" has waited for real time (Timeout) for more than 100 ms',
  );
});

test("a tool that waits for simulated time beside a real timer that guards it is not held up", async () => {
  const outcome = await run(async (_input, { signal }) => {
    const guard = setTimeout(() => undefined, 100_000);
    await clock.sleep(60_000, signal);
    clearTimeout(guard);
    return {};
  });
  expect(outcome).toMatchObject(once);
  expect(outcome.tookMs).toBeGreaterThan(60_000);
});

test("a tool that ignores its signal is given up on after its time, without waiting for it", async () => {
  const never = toolOf({
    name: "never",
    execute: () => new Promise(() => undefined),
    timeoutMs: 20_000,
    retry: { attempts: 2 },
  });
  const outcome = await simulate({ nodes: [node("a", "never")], tools: [never] });
  expect(outcome).toMatchObject({
    status: "FAILED",
    nodes: { a: { attempts: 2, effect: "unknown", error: { name: "ToolDidNotStop" } } },
  });
});

test("a tool that waits for its signal alone is waiting for simulated time", async () => {
  const outcome = await run(
    (_input, { signal }) =>
      new Promise((_, reject) => signal.addEventListener("abort", () => reject(new NonRetryableError("stopped")))),
  );
  expect(outcome).toMatchObject({ status: "FAILED", nodes: { a: { attempts: 1, effect: "none" } } });
  expect(outcome.tookMs).toBeGreaterThan(240_000);
});

test("a test that has put fake timers in place can simulate all the same", async () => {
  vi.useFakeTimers();
  expect(await run(async () => ({}))).toMatchObject(once);
});

test("heartbeats keep a slow tool's lease: it is called once", async () => {
  let calls = 0;
  const outcome = await run(async (_input, { signal }) => {
    calls += 1;
    await clock.sleep(200_000, signal);
    return {};
  });
  expect(outcome).toMatchObject(once);
  expect(calls).toBe(1);
});

test("the simulated clock does not go outside of a tool, and a call to the outside is then just a call", async () => {
  expect(() => clock.nowMs()).toThrow(
    "the clock of leasehold/testing goes only for code of a tool that simulate() runs",
  );
  await expect(clock.sleep(1)).rejects.toThrow(/goes only for code of a tool/);
  expect(await callOutside("x", () => 5)).toBe(5);
});
