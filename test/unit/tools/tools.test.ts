import { readFile } from "node:fs/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { buyVoucher } from "../../../functions/tools/buy-voucher.ts";
import { buyVoucherAtMostOnce } from "../../../functions/tools/buy-voucher-at-most-once.ts";
import { buyVoucherReconcilable } from "../../../functions/tools/buy-voucher-reconcilable.ts";
import { tools } from "../../../functions/tools/index.ts";
import { noop } from "../../../functions/tools/noop.ts";
import { saveVoucher } from "../../../functions/tools/save-voucher.ts";
import { sendMail } from "../../../functions/tools/send-mail.ts";
import { sleep } from "../../../functions/tools/sleep.ts";
import { isNonRetryable, isRetryable, retryAfterOf } from "../../../shared/errors.ts";
import { startRunSchema } from "../../../shared/model.ts";
import type { AnyTool, ToolContext } from "../../../shared/tool.ts";
import { type Provider, startProvider } from "../../support/provider.ts";
import { toolContext } from "../../support/tool-context.ts";

const order = { customer: "ada", amount: 25 };

const thrownBy = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => {
      throw new Error("nothing was thrown");
    },
    (error) => error,
  );

const reconcile = async (context: ToolContext) => (buyVoucherReconcilable as AnyTool).reconcile?.(order, context);

let provider: Provider;
beforeEach(async () => {
  provider = await startProvider();
  process.env.PROVIDER_URL = provider.url;
});
afterEach(async () => {
  delete process.env.PROVIDER_URL;
  await provider.stop();
});

describe("the list of tools", () => {
  test("holds each name once, and the voucher's graph names no other", async () => {
    const names = tools.map((tool) => tool.name);
    expect(new Set(names).size).toBe(names.length);
    const file: unknown = JSON.parse(
      await readFile(new URL("../../../examples/voucher.json", import.meta.url), "utf8"),
    );
    const start = startRunSchema.parse({ type: "start_run", run_id: "run", ...Object(file) });
    expect(start.nodes.map((node) => node.tool)).toEqual(["buy-voucher", "save-voucher", "send-mail"]);
    expect(names).toEqual(expect.arrayContaining(start.nodes.map((node) => node.tool)));
  });
});

describe("noop and sleep", () => {
  test("noop takes any object and gives nothing", async () => {
    expect(noop.input.safeParse({ any: [1, null, { deep: "x" }] }).success).toBe(true);
    expect(noop.input.safeParse([]).success).toBe(false);
    expect(await noop.execute({}, toolContext())).toEqual({});
  });

  test("sleep takes its time, and ends early when it is told to", async () => {
    expect(await sleep.execute({ ms: 10 }, toolContext())).toEqual({ slept_ms: 10 });
    const abort = new AbortController();
    const sleeping = thrownBy(sleep.execute({ ms: 60_000 }, toolContext({ signal: abort.signal })));
    abort.abort(new Error("the lease is lost"));
    expect(await sleeping).toMatchObject({ name: "AbortError", cause: { message: "the lease is lost" } });
  });

  test("sleep refuses a time that no attempt could hold", () => {
    for (const ms of [-1, 1.5, 240_001]) expect(sleep.input.safeParse({ ms }).success).toBe(false);
  });
});

describe("the voucher", () => {
  test("is bought, saved and mailed, each under its own operation", async () => {
    const bought = await buyVoucher.execute(order, toolContext({ operationId: "a" }));
    const voucher = { customer: bought.customer, code: bought.code };
    const saved = await saveVoucher.execute(voucher, toolContext({ operationId: "b", fencingToken: 4 }));
    const mailed = await sendMail.execute(voucher, toolContext({ operationId: "c" }));
    expect(buyVoucher.output.parse(bought)).toEqual({ code: "VOUCHER-1", ...order });
    expect(saveVoucher.output.parse(saved)).toEqual({ saved: "VOUCHER-1" });
    expect(sendMail.output.parse(mailed)).toEqual({ mail_id: "MAIL-3" });
    expect(provider.calls).toMatchObject([
      { path: "/vouchers", operationId: "a", fencingToken: 1 },
      { path: "/saved-vouchers", operationId: "b", fencingToken: 4 },
      { path: "/mails", operationId: "c" },
    ]);
  });

  test("a second attempt under the same operation gets the first voucher", async () => {
    const first = await buyVoucher.execute(order, toolContext());
    const second = await buyVoucher.execute(order, toolContext({ attempt: 2, fencingToken: 2 }));
    expect(second).toEqual(first);
    expect(provider.effects).toHaveLength(1);
  });

  test("an address with a path keeps it", async () => {
    process.env.PROVIDER_URL = `${provider.url}/ledger`;
    await buyVoucher.execute(order, toolContext());
    expect(provider.calls).toMatchObject([{ path: "/ledger/vouchers" }]);
  });
});

describe("the voucher of a provider without keys", () => {
  test("that keeps a reference is bought under the operation's id, and found by it", async () => {
    const context = toolContext({ operationId: "op/ä" });
    const bought = await buyVoucherReconcilable.execute(order, context);
    expect(provider.calls).toMatchObject([{ path: "/vouchers", operationId: undefined, reference: "op/ä" }]);
    expect(await reconcile(context)).toEqual({ is: "done", output: bought });
    expect(await reconcile(toolContext({ operationId: "another" }))).toEqual({ is: "not_done" });
    expect(provider.effects).toHaveLength(1);
    expect(provider.lookups.map(({ path, reference }) => [path, reference])).toEqual([
      ["/vouchers", "op/ä"],
      ["/vouchers", "another"],
    ]);
  });

  test.each([
    ["reconcilable", buyVoucherReconcilable],
    ["at_most_once", buyVoucherAtMostOnce],
  ])("makes a new effect with each call, so %s must not be called twice", async (effect, tool) => {
    expect(tool.effect).toBe(effect);
    await tool.execute(order, toolContext());
    await tool.execute(order, toolContext({ attempt: 2, fencingToken: 2 }));
    expect(provider.effects.map(({ answer }) => answer)).toMatchObject([{ code: "VOUCHER-1" }, { code: "VOUCHER-2" }]);
  });

  test("at_most_once sends nothing by which it could be found", async () => {
    await buyVoucherAtMostOnce.execute(order, toolContext());
    expect(provider.calls).toMatchObject([{ body: order, operationId: undefined, reference: undefined }]);
  });

  test("a look-up that gets no clear answer says nothing about the effect", async () => {
    process.env.PROVIDER_URL = `${provider.url}/elsewhere`;
    expect(await thrownBy(reconcile(toolContext()))).toMatchObject({ message: "/vouchers/by-operation answered 404" });
    await provider.stop();
    expect(await thrownBy(reconcile(toolContext()))).toBeInstanceOf(TypeError);
  });
});

describe("what an answer says of the effect", () => {
  test.each([429, 503])("%i is certain to have done nothing, and is retried when the provider says", async (status) => {
    provider.tell("/vouchers", { fail: { status, when: "before", retryAfter: "7" } });
    const error = await thrownBy(buyVoucher.execute(order, toolContext()));
    expect(isRetryable(error)).toBe(true);
    expect(retryAfterOf(error)).toBe(7_000);
  });

  test.each([400, 404, 422])("%i is certain to have done nothing, and is not retried", async (status) => {
    provider.tell("/vouchers", { fail: { status, when: "before" } });
    const error = await thrownBy(buyVoucher.execute(order, toolContext()));
    expect(isNonRetryable(error)).toBe(true);
    expect(error).toMatchObject({ message: expect.stringContaining(`/vouchers answered ${status}`) });
  });

  test.each([500, 502, 503, 504])("%i leaves the outcome unknown", async (status) => {
    provider.tell("/vouchers", { fail: { status, when: "after" } });
    const error = await thrownBy(buyVoucher.execute(order, toolContext()));
    expect([isRetryable(error), isNonRetryable(error)]).toEqual([false, false]);
  });

  test("a broken connection and an abort leave it unknown too", async () => {
    provider.tell("/vouchers", { hang: true });
    const abort = new AbortController();
    const aborted = thrownBy(buyVoucher.execute(order, toolContext({ signal: abort.signal })));
    await provider.whenCalled("/vouchers", 1);
    abort.abort(new Error("the lease is lost"));
    const broken = thrownBy(buyVoucher.execute(order, toolContext()));
    await provider.whenCalled("/vouchers", 2);
    await provider.stop();
    for (const error of [await aborted, await broken])
      expect([isRetryable(error), isNonRetryable(error)]).toEqual([false, false]);
    expect(await aborted).toMatchObject({ message: "the lease is lost" });
    expect(provider.effects).toHaveLength(1);
  });

  test("no address, or one that is none, ends the node with the variable's name", async () => {
    for (const value of ["", "no address"]) {
      process.env.PROVIDER_URL = value;
      const error = await thrownBy(buyVoucher.execute(order, toolContext()));
      expect(isNonRetryable(error)).toBe(true);
      expect(error).toMatchObject({ message: expect.stringContaining("PROVIDER_URL") });
    }
  });
});
