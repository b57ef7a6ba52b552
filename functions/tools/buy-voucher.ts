import { defineTool } from "../../shared/tool.ts";
import { callProvider } from "./provider-call.ts";
import { orderSchema, voucherSchema } from "./voucher.ts";

/** The effect that must not happen twice: a second call under the same key gives the first voucher again. */
export const buyVoucher = defineTool({
  name: "buy-voucher",
  input: orderSchema,
  output: voucherSchema,
  effect: "idempotent",
  execute: (order, context) => callProvider("/vouchers", order, context),
});
