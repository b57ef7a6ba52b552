/** The voucher job with its provider as an argument, so that a test can put a fake in its place. */
import * as z from "zod";
import { defineTool } from "../../shared/tool.ts";

export type VoucherProvider = {
  /** A second call under the same key gives the first voucher again. */
  buy(key: string, amount: number): Promise<{ readonly code: string }>;
};
export type Mailer = { send(key: string, to: string, text: string): Promise<void> };

export const buyVoucher = (provider: VoucherProvider) =>
  defineTool({
    name: "buy-voucher",
    input: z.strictObject({ amount: z.number().positive() }),
    output: z.object({ code: z.string() }),
    effect: "idempotent",
    execute: ({ amount }, { operationId }) => provider.buy(operationId, amount),
  });

export const mailVoucher = (mailer: Mailer) =>
  defineTool({
    name: "mail-voucher",
    input: z.strictObject({ to: z.string(), code: z.string() }),
    output: z.strictObject({}),
    effect: "idempotent",
    execute: async ({ to, code }, { operationId }) => {
      await mailer.send(operationId, to, `Your voucher: ${code}`);
      return {};
    },
  });

export const voucherJob = [
  { nodeId: "buy", tool: "buy-voucher", input: { amount: 25 } },
  {
    nodeId: "mail",
    tool: "mail-voucher",
    dependsOn: ["buy"],
    input: { to: "ada@example.com", code: { $output: "buy", pointer: "/code" } },
  },
];
