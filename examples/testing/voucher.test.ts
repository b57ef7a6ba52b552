/** The voucher job killed at every step: one voucher, one mail, whatever happens. docs/testing.md walks through it. */
import { beforeEach, expect, test } from "vitest";
import { callOutside, crashAtEveryStep, simulate } from "../../testing/index.ts";
import { buyVoucher, mailVoucher, voucherJob } from "./voucher.ts";

/** What the world has seen. A fake keeps it by key, as the real provider would. */
let vouchers: Map<string, string>;
let mails: Map<string, string>;

const tools = () => {
  vouchers = new Map();
  mails = new Map();
  return [
    buyVoucher({
      buy: (key) =>
        callOutside("buy", () => {
          const code = vouchers.get(key) ?? `VOUCHER-${vouchers.size + 1}`;
          vouchers.set(key, code);
          return { code };
        }),
    }),
    mailVoucher({ send: (key, to, text) => callOutside("send", () => void mails.set(key, `${to}: ${text}`)) }),
  ];
};

beforeEach(() => {
  tools();
});

test("the mail carries the code that was bought", async () => {
  const outcome = await simulate({ nodes: voucherJob, tools: tools() });
  expect(outcome.status).toBe("SUCCEEDED");
  expect([...mails.values()]).toEqual(["ada@example.com: Your voucher: VOUCHER-1"]);
});

test("wherever a worker is killed, one voucher is bought and one mail is sent", async () => {
  const tried = await crashAtEveryStep({ nodes: voucherJob, tools }, (outcome) => {
    expect(outcome.status).toBe("SUCCEEDED");
    expect([...vouchers.values()]).toEqual(["VOUCHER-1"]);
    expect([...mails.values()]).toEqual(["ada@example.com: Your voucher: VOUCHER-1"]);
  });
  expect(tried).toBeGreaterThan(20);
});

test("control: a provider that forgets its keys sells two, and the failure says where", async () => {
  const forgetful = () => [
    buyVoucher({ buy: async (key) => ({ code: vouchers.set(`${key} ${vouchers.size}`, "sold").size.toString() }) }),
    ...tools().slice(1),
  ];
  const run = crashAtEveryStep({ nodes: voucherJob, tools: forgetful }, () => expect(vouchers.size).toBe(1));
  await expect(run).rejects.toThrow('worker was killed after tool "execute" of node "buy": expected 2 to be 1');
});
