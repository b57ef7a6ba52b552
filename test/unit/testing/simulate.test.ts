import { expect, test } from "vitest";
import { NonRetryableError, RetryableError } from "../../../shared/errors.ts";
import { clock, simulate } from "../../../testing/index.ts";
import { fakeProvider, lookedUp, node, once, pay, toolOf } from "./fakes.ts";

const mail = toolOf({ name: "mail", execute: async (input) => ({ told: input as never }) });

test("a graph runs to its end in simulated time, and an output goes where it is referred to", async () => {
  const provider = fakeProvider();
  const outcome = await simulate({
    nodes: [
      node("pay", "pay"),
      { nodeId: "mail", tool: "mail", dependsOn: ["pay"], input: { of: { $output: "pay", pointer: "/charge" } } },
    ],
    tools: [pay(provider), mail],
  });
  expect(outcome).toMatchObject({
    status: "SUCCEEDED",
    nodes: {
      pay: { tool: "pay", status: "SUCCEEDED", effect: "done", attempts: 1, output: { charge: 0 } },
      mail: { status: "SUCCEEDED", output: { told: { of: 0 } } },
    },
  });
  expect(outcome.crashed).toBeUndefined();
  expect(outcome.calls.map((call) => call.index)).toEqual([...outcome.calls.keys()]);
  expect(outcome.calls).toContainEqual(
    expect.objectContaining({ function: "worker", port: "write", what: "claim", nodeId: "pay" }),
  );
});

test("a large output comes back whole", async () => {
  const text = "0123456789".repeat(30_000);
  const large = toolOf({ name: "large", execute: async () => ({ text }) });
  const outcome = await simulate({ nodes: [node("a", "large")], tools: [large] });
  expect(outcome.nodes.a?.output).toEqual({ text });
});

test("what a tool throws is in the outcome, and what depends on it is skipped", async () => {
  const fails = toolOf({ name: "fails", execute: () => Promise.reject(new NonRetryableError("no such customer")) });
  const outcome = await simulate({ nodes: [node("a", "fails"), node("b", "mail", "a")], tools: [fails, mail] });
  expect(outcome).toMatchObject({
    status: "FAILED",
    nodes: {
      a: { status: "FAILED", effect: "none", attempts: 1, error: { message: "no such customer" } },
      b: { status: "SKIPPED", attempts: 0 },
    },
  });
});

test("a tool that asks for a retry in an hour gets it, and no real time goes by", async () => {
  const startedAtMs = performance.now();
  const patient = toolOf({
    name: "patient",
    execute: async (_input, { attempt }) => {
      if (attempt === 1) throw new RetryableError("later", { retryAfterMs: 3_600_000 });
      return {};
    },
  });
  const outcome = await simulate({ nodes: [node("a", "patient")], tools: [patient] });
  expect(outcome).toMatchObject({ status: "SUCCEEDED", nodes: { a: { attempts: 2 } } });
  expect(outcome.tookMs).toBeGreaterThan(3_600_000);
  expect(performance.now() - startedAtMs).toBeLessThan(20_000);
});

test("a worker that is killed after the tool's code comes back under the same operation id", async () => {
  const undisturbed = await simulate({ nodes: [node("pay", "pay")], tools: [pay(fakeProvider())] });
  const call = undisturbed.calls.findIndex(({ what }) => what === "execute");
  const provider = fakeProvider();
  const outcome = await simulate({
    nodes: [node("pay", "pay")],
    tools: [pay(provider)],
    crash: { call, when: "after" },
  });
  expect(outcome).toMatchObject({
    status: "SUCCEEDED",
    nodes: { pay: { attempts: 2, output: { charge: 0 } } },
    crashed: { function: "worker", port: "tool", what: "execute", nodeId: "pay", when: "after" },
  });
  expect(outcome.tookMs).toBeGreaterThan(30_000);
  expect(provider.charges).toHaveLength(1);
});

test("the same seed makes the same run", async () => {
  const run = (seed?: number) =>
    simulate({ nodes: [node("pay", "pay")], tools: [pay(fakeProvider())], ...(seed === undefined ? {} : { seed }) });
  const [first, second] = [await run(), await run()];
  expect(second.calls).toEqual(first.calls);
  expect(second.tookMs).toBe(first.tookMs);
});

test("runs that are simulated side by side do not disturb each other", async () => {
  const one = () =>
    simulate({ nodes: [node("pay", "pay"), node("mail", "mail", "pay")], tools: [pay(fakeProvider()), mail] });
  const [alone, ...beside] = [await one(), ...(await Promise.all([one(), one(), one()]))];
  for (const outcome of beside) expect(outcome.calls).toEqual(alone.calls);
});

/** Killed after the charge, before anyone knew of it. */
const killedAfterCharge = async (tool: typeof once) => {
  const nodes = [node("pay", "pay"), node("mail", "mail", "pay")];
  const { calls } = await simulate({ nodes, tools: [tool(fakeProvider()), mail] });
  const provider = fakeProvider();
  const call = calls.findIndex(({ what }) => what === "charge");
  const outcome = await simulate({ nodes, tools: [tool(provider), mail], crash: { call, when: "after" } });
  return { outcome, provider };
};

test("at_most_once: a killed attempt is in doubt, nothing is done twice, and the test says what became of it", async () => {
  const { outcome, provider } = await killedAfterCharge(once);
  expect(outcome).toMatchObject({
    status: "RUNNING",
    nodes: { pay: { status: "IN_DOUBT", attempts: 1, doubt: expect.any(String) }, mail: { status: "PENDING" } },
  });
  expect(provider.charges).toHaveLength(1);

  const resolved = await outcome.resolve("pay", { resolution: "succeeded", output: { charge: 0 } });
  expect(resolved).toMatchObject({
    status: "SUCCEEDED",
    nodes: { pay: { status: "SUCCEEDED", effect: "done", output: { charge: 0 } }, mail: { status: "SUCCEEDED" } },
  });
  expect(provider.charges).toHaveLength(1);
  await expect(resolved.resolve("pay", { resolution: "not_done" })).rejects.toThrow(
    'resolve: node "pay" must be IN_DOUBT, it is SUCCEEDED',
  );
});

test("at_most_once: said not to be done, it runs again; said to have failed, it ends", async () => {
  const again = await killedAfterCharge(once);
  expect(await again.outcome.resolve("pay", { resolution: "not_done" })).toMatchObject({ status: "SUCCEEDED" });
  expect(again.provider.charges).toHaveLength(2);

  const failed = await killedAfterCharge(once);
  expect(await failed.outcome.resolve("pay", { resolution: "failed", effect: "none" })).toMatchObject({
    status: "FAILED",
    nodes: { pay: { status: "FAILED", effect: "none" }, mail: { status: "SKIPPED" } },
  });
});

test("a resolution that does not fit the tool is refused with its rule", async () => {
  const { outcome } = await killedAfterCharge(once);
  await expect(outcome.resolve("pay", { resolution: "succeeded", output: "no object" })).rejects.toThrow(
    /resolve: .*output/,
  );
});

test("reconcilable: a killed attempt is looked up and not made again", async () => {
  const { outcome, provider } = await killedAfterCharge(lookedUp);
  expect(outcome).toMatchObject({
    status: "SUCCEEDED",
    nodes: { pay: { status: "SUCCEEDED", effect: "done", output: { charge: 0 } } },
  });
  expect(provider.charges).toHaveLength(1);
});

test("a cancel that comes while a tool sleeps is told to it by its signal", async () => {
  const heard: unknown[] = [];
  const sleeps = toolOf({
    name: "sleeps",
    execute: async (_input, { signal }) => {
      await clock.sleep(200_000, signal);
      heard.push(signal.reason);
      throw new RetryableError("stopped");
    },
  });
  const outcome = await simulate({
    nodes: [node("a", "sleeps")],
    tools: [sleeps],
    commands: [{ type: "cancel_run", afterMs: 5_000, reason: "enough" }],
  });
  expect(outcome).toMatchObject({ status: "CANCELLED", nodes: { a: { status: "CANCELLED" } } });
  expect(heard).toEqual(["cancelled"]);
});

test("a deadline that passes expires what has not begun, and limits are the user's", async () => {
  const slow = toolOf({
    name: "slow",
    execute: async (_input, { signal }) => {
      await clock.sleep(60_000, signal);
      if (signal.aborted) throw new RetryableError("stopped");
      return {};
    },
  });
  const nodes = [node("a", "slow"), node("b", "slow", "a")];
  const outcome = await simulate({ nodes, tools: [slow], deadlineMs: 90_000 });
  expect(outcome).toMatchObject({ status: "EXPIRED", nodes: { a: { status: "SUCCEEDED" } } });
  const limits = { leaseMs: 5_000, heartbeatMs: 1_000, functionTimeoutMs: 900_000, attemptLimitMs: 800_000 };
  expect(await simulate({ nodes, tools: [slow], limits })).toMatchObject({ status: "SUCCEEDED" });
});

test("a start that breaks a rule is an error that names node and rule", async () => {
  const tools = [mail];
  await expect(simulate({ nodes: [node("a", "mail", "b")], tools })).rejects.toThrow(
    /the start was refused: node "a", depends_on: .*, got b/,
  );
  await expect(simulate({ nodes: [node("a", "fax")], tools })).rejects.toThrow(/the start was refused: .*fax/);
});

test("an input that is no JSON is refused, and not silently changed", async () => {
  const nodes = [{ nodeId: "a", tool: "mail", input: { at: new Date(0) } }];
  await expect(simulate({ nodes, tools: [mail] })).rejects.toThrow(/node "a", input.*at: .* is not JSON/);
});

test("a call that is never made is no place to crash at", async () => {
  const run = simulate({ nodes: [node("a", "mail")], tools: [mail], crash: { call: 999, when: "before" } });
  await expect(run).rejects.toThrow(/crash.call must be below \d+, the number of calls that were made, got 999/);
});
