import * as z from "zod";
import { defineTool } from "../../shared/tool.ts";
import { callProvider } from "./provider-call.ts";

/** The effect that must not happen twice: a second call under the same key gives the first voucher again. */
export const buyVoucher = defineTool({
  name: "buy-voucher",
  input: z.strictObject({ customer: z.string().min(1), amount: z.number().positive() }),
  output: z.object({ code: z.string().min(1), customer: z.string(), amount: z.number() }),
  effect: "idempotent",
  execute: (order, context) => callProvider("/vouchers", order, context),
});
