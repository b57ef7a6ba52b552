import { expect, test } from "vitest";
import { type CrashAtEveryStepOptions, crashAtEveryStep, type Outcome } from "../../../testing/index.ts";
import { careless, type FakeProvider, fakeProvider, lookedUp, node, once, pay, toolOf } from "./fakes.ts";

const nodes = [node("pay", "pay"), node("mail", "mail", "pay")];

/** Fresh fakes for each run, and the latest ones at hand. */
function setup(tool: (provider: FakeProvider) => ReturnType<typeof pay>) {
  const made = { provider: fakeProvider() };
  const tools = () => {
    made.provider = fakeProvider();
    return [tool(made.provider), toolOf({ name: "mail", execute: async () => ({}) })];
  };
  const options: CrashAtEveryStepOptions = { nodes, tools };
  return { made, options };
}

test.each([
  ["idempotent", pay],
  ["reconcilable", lookedUp],
] as const)("%s: whoever is killed wherever, the run succeeds and charges once", async (_effect, tool) => {
  const { made, options } = setup(tool);
  const crashes = new Set<string>();
  const tried = await crashAtEveryStep(options, ({ status, crashed }) => {
    expect(status).toBe("SUCCEEDED");
    expect(made.provider.charges).toHaveLength(1);
    if (crashed !== undefined) crashes.add(`${crashed.when} ${crashed.function} ${crashed.port} ${crashed.what}`);
  });
  expect(tried).toBeGreaterThanOrEqual(28);
  for (const place of ["before worker tool execute", "after worker tool execute", "after worker tool charge"])
    expect(crashes).toContain(place);
  expect(crashes).toContain("after commands transact start_run");
  expect(crashes).toContain("before relay send dispatch");
});

test("at_most_once: it charges at most once wherever it is killed, and a doubt is resolved in the check", async () => {
  const { made, options } = setup(once);
  let doubts = 0;
  await crashAtEveryStep(options, async (outcome) => {
    expect(made.provider.charges.length).toBeLessThanOrEqual(1);
    if (outcome.nodes.pay?.status !== "IN_DOUBT") return expect(outcome.status).toBe("SUCCEEDED");
    doubts += 1;
    const [charge] = made.provider.charges;
    const resolved = await outcome.resolve(
      "pay",
      charge === undefined ? { resolution: "not_done" } : { resolution: "succeeded", output: { charge: 0 } },
    );
    expect(resolved.status).toBe("SUCCEEDED");
    expect(made.provider.charges).toHaveLength(1);
  });
  expect(doubts).toBeGreaterThan(3);
});

test("steps: what is remembered is not run again wherever the worker is killed", async () => {
  const ran = { first: 0, second: 0 };
  const steps = toolOf({
    name: "steps",
    execute: async (_input, { step }) => {
      const first = await step("first", async () => ++ran.first);
      const second = await step("second", async () => ++ran.second);
      return { first, second };
    },
  });
  const fresh = () => {
    ran.first = 0;
    ran.second = 0;
    return [steps];
  };
  await crashAtEveryStep({ nodes: [node("a", "steps")], tools: fresh }, ({ status, crashed }) => {
    expect(status).toBe("SUCCEEDED");
    // Killed at the end of its code, both are remembered.
    const isAfterCode = crashed?.what === "execute" && crashed.when === "after";
    if (crashed === undefined || isAfterCode) expect(ran).toEqual({ first: 1, second: 1 });
    expect(ran.first).toBeLessThanOrEqual(2);
    expect(ran.second).toBeLessThanOrEqual(2);
  });
});

test("a step that must not run twice puts its node in doubt, and one that can be looked up is found", async () => {
  const made = { provider: fakeProvider() };
  const tools = () => {
    made.provider = fakeProvider();
    const { chargeBlindly, find } = made.provider;
    return [
      toolOf({
        name: "steps",
        execute: async (_input, { step }) => ({
          once: await step("once", ({ operationId }) => chargeBlindly(operationId, 1), { effect: "at_most_once" }),
          paid: await step("paid", ({ operationId }) => chargeBlindly(operationId, 2), {
            effect: "reconcilable",
            reconcile: async ({ operationId }) => {
              const charge = await find(operationId);
              return charge < 0 ? { is: "not_done" } : { is: "done", output: { charge } };
            },
          }),
        }),
      }),
    ];
  };
  const statuses = new Set<string>();
  const crashed = new Set<string>();
  await crashAtEveryStep({ nodes: [node("a", "steps")], tools }, (outcome) => {
    const { charges } = made.provider;
    expect(new Set(charges.map(({ key }) => key)).size).toBe(charges.length);
    const status = outcome.nodes.a?.status ?? "";
    if (status !== "IN_DOUBT") expect(charges.map(({ amount }) => amount)).toEqual([1, 2]);
    statuses.add(status);
    crashed.add(`${outcome.crashed?.port} ${outcome.crashed?.what}`);
  });
  expect(statuses).toEqual(new Set(["SUCCEEDED", "IN_DOUBT"]));
  expect([...crashed].join()).toMatch(/write create_journal.*write remember_step/);
});

const chargedOnce = (made: { provider: FakeProvider }) => (_outcome: Outcome) => {
  if (made.provider.charges.length !== 1) throw new Error(`charged ${made.provider.charges.length} times`);
};

test("a tool that says idempotent and is not is found out: the error names the place and replays alone", async () => {
  const { made, options } = setup(careless);
  const failure: unknown = await crashAtEveryStep(options, chargedOnce(made)).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(Error);
  const { message, cause } = failure as Error;
  const found =
    /^worker was killed after tool "execute" of node "pay": charged 2 times\nreplay it alone: only: \{ call: (\d+), when: "after" \}$/.exec(
      message,
    );
  expect(found, message).not.toBeNull();
  expect(cause).toEqual(new Error("charged 2 times"));

  const only = { call: Number(found?.[1]), when: "after" } as const;
  await expect(crashAtEveryStep({ ...options, only }, chargedOnce(made))).rejects.toThrow(message);
  expect(await crashAtEveryStep({ ...options, only: { ...only, when: "before" } }, chargedOnce(made))).toBe(1);
});

test("a check that fails without any crash is told so, and so is a graph that is refused", async () => {
  const { options } = setup(pay);
  const fails = () => {
    throw new Error("never good");
  };
  await expect(crashAtEveryStep(options, fails)).rejects.toThrow("nothing was killed: never good");
  await expect(crashAtEveryStep({ ...options, nodes: [node("a", "fax")] }, () => undefined)).rejects.toThrow(
    /nothing was killed: the start was refused: .*fax/,
  );
});

test("tools that are not the same for each run are told so", async () => {
  let runs = 0;
  const tools = () => {
    runs += 1;
    return [runs % 2 === 1 ? pay(fakeProvider()) : toolOf({ name: "pay", execute: async () => ({}) })];
  };
  await expect(crashAtEveryStep({ nodes: [node("pay", "pay")], tools }, () => undefined)).rejects.toThrow(
    /was another one this time.*are tools and fakes the same for each run\?/,
  );
});
