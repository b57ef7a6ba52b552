import * as z from "zod";
import { defineTool } from "../../shared/tool.ts";
import { callProvider } from "./provider-call.ts";

/** Files the voucher under its code, not under a fresh time stamp, so that a repeat files the same thing. */
export const saveVoucher = defineTool({
  name: "save-voucher",
  input: z.strictObject({ customer: z.string().min(1), code: z.string().min(1) }),
  output: z.object({ saved: z.string() }),
  effect: "idempotent",
  execute: (voucher, context) => callProvider("/saved-vouchers", voucher, context),
});
