import { defineTool } from "../../shared/tool.ts";
import { callKeyless } from "./provider-call.ts";
import { orderSchema, voucherSchema } from "./voucher.ts";

/** For a provider that knows neither keys nor references: after a crash only a look into its books can tell. */
export const buyVoucherAtMostOnce = defineTool({
  name: "buy-voucher-at-most-once",
  input: orderSchema,
  output: voucherSchema,
  effect: "at_most_once",
  execute: (order, context) => callKeyless("/vouchers", order, context),
});
