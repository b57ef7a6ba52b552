import { defineTool } from "../../shared/tool.ts";
import { callKeyless, lookUp } from "./provider-call.ts";
import { orderSchema, voucherSchema } from "./voucher.ts";

/** For a provider that knows no keys but keeps a reference: a second call would buy again, so it is asked before. */
export const buyVoucherReconcilable = defineTool({
  name: "buy-voucher-reconcilable",
  input: orderSchema,
  output: voucherSchema,
  effect: "reconcilable",
  execute: (order, context) => callKeyless("/vouchers", { ...order, reference: context.operationId }, context),
  reconcile: (_order, context) => lookUp("/vouchers", context),
});
