/** One charge and one receipt, wherever a worker is killed and whatever the provider says. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { AnyTool } from "../../shared/tool.ts";
import { callOutside, clock, crashAtEveryStep, simulate } from "../../testing/index.ts";
import { chargeCard, type Fetch } from "./charge-card.ts";
import { fileReceipt } from "./file-receipt.ts";
import { order } from "./order.ts";

type Charge = { readonly charge_id: string; readonly cents: number; readonly atMs: number };
/** What the provider says in place of its answer, and whether it has charged the card before. */
type Trouble = { readonly status: number; readonly charged?: true; readonly headers?: Record<string, string> };
type TroubleOf = (nth: number) => Trouble | undefined;

const hourMs = 3_600_000;
const minuteMs = 60_000;

/** A fake, honest about its keys: it knows each for an hour, and then no longer. */
function world(troubleOf: TroubleOf = () => undefined) {
  const charges: Charge[] = [];
  const byKey = new Map<string, Charge>();
  const keys: string[] = [];
  const charge = (key: string, cents: number): Charge => {
    const known = byKey.get(key);
    if (known !== undefined && clock.nowMs() < known.atMs + hourMs) return known;
    const made = { charge_id: `ch-${charges.length + 1}`, cents, atMs: clock.nowMs() };
    charges.push(made);
    byKey.set(key, made);
    return made;
  };
  const send: Fetch = (_url, { headers, body, redirect }) =>
    callOutside("charge", async () => {
      if (redirect !== "manual") throw new Error("the card's number would go wherever a redirect leads");
      const key = new Headers(headers).get("idempotency-key") ?? "";
      const { cents } = JSON.parse(String(body));
      const trouble = troubleOf(keys.push(key));
      if (trouble === undefined) return Response.json(charge(key, cents), { status: 201 });
      if (trouble.charged) charge(key, cents);
      return new Response("trouble", trouble);
    });
  const receipts = new Map<string, string>();
  const put = (id: string, text: string) => callOutside("file", () => void receipts.set(id, text));
  const tools: readonly AnyTool[] = [chargeCard(send), fileReceipt({ put })];
  return { charges, keys, receipts, tools };
}

const first =
  (trouble: Trouble): TroubleOf =>
  (nth) =>
    nth === 1 ? trouble : undefined;

beforeEach(() => {
  process.env.PAY_URL = "https://pay.example";
});
afterEach(() => {
  delete process.env.PAY_URL;
});

test("wherever a worker is killed, the card is charged once and one receipt is filed", async () => {
  let now = world();
  const tools = () => {
    now = world();
    return now.tools;
  };
  const tried = await crashAtEveryStep({ nodes: order, tools }, (outcome) => {
    expect(outcome.status).toBe("SUCCEEDED");
    expect(now.charges).toMatchObject([{ charge_id: "ch-1", cents: 1_500 }]);
    expect([...now.receipts]).toEqual([["ch-1", "charged 1500 cents"]]);
    expect(new Set(now.keys).size).toBe(1);
  });
  expect(tried).toBeGreaterThan(20);
});

describe("an answer of the provider", () => {
  test("of 429 is waited for as long as it says", async () => {
    const { tools, charges } = world(first({ status: 429, headers: { "retry-after": "120" } }));
    const outcome = await simulate({ nodes: order, tools });
    expect(outcome.status).toBe("SUCCEEDED");
    expect(outcome.tookMs).toBeGreaterThanOrEqual(2 * minuteMs);
    expect(charges).toHaveLength(1);
  });

  test("of 402 ends the payment with effect none, and files no receipt", async () => {
    const { tools, charges, receipts } = world(first({ status: 402 }));
    const outcome = await simulate({ nodes: order, tools });
    expect(outcome.status).toBe("FAILED");
    expect(outcome.nodes).toMatchObject({ charge: { effect: "none", attempts: 1 }, receipt: { status: "SKIPPED" } });
    expect([charges.length, receipts.size]).toEqual([0, 0]);
  });

  test.each([500, 409, 408, 425, 302])(
    "of %i after the charge is followed by the same request, which charges nothing",
    async (status) => {
      const { tools, charges, keys } = world(first({ status, charged: true }));
      const outcome = await simulate({ nodes: order, tools });
      expect(outcome.status).toBe("SUCCEEDED");
      expect(charges).toHaveLength(1);
      expect(keys).toEqual([keys[0], keys[0]]);
    },
  );
});

describe("a provider that charges, and then is down for longer than it remembers keys", () => {
  const outage = (): TroubleOf => {
    let downUntilMs: number | undefined;
    return () => {
      downUntilMs ??= clock.nowMs() + 90 * minuteMs;
      if (clock.nowMs() >= downUntilMs) return undefined;
      return { status: 500, charged: true };
    };
  };

  test("is not asked again once its keys may be gone: the payment waits for someone who looks into its books", async () => {
    const { tools, charges, receipts } = world(outage());
    const outcome = await simulate({ nodes: order, tools });
    expect(outcome.nodes.charge?.status).toBe("IN_DOUBT");
    expect(charges).toHaveLength(1);
    const output = { charge_id: "ch-1", cents: 1_500 };
    const resolved = await outcome.resolve("charge", { resolution: "succeeded", output });
    expect(resolved.status).toBe("SUCCEEDED");
    expect([charges.length, ...receipts.keys()]).toEqual([1, "ch-1"]);
  });

  test("control: charges twice where the tool says that keys live for a day", async () => {
    const { tools, charges } = world(outage());
    const wrong = { keyLifetimeMs: 24 * hourMs };
    await simulate({
      nodes: order,
      tools: tools.map((tool): AnyTool => (tool.name === "charge-card" ? { ...tool, ...wrong } : tool)),
    });
    expect(charges.length).toBeGreaterThan(1);
  });
});
