/** What buying a voucher takes and gives, however its provider is called. */
import * as z from "zod";

export const orderSchema = z.strictObject({ customer: z.string().min(1), amount: z.number().positive() });
export const voucherSchema = z.object({ code: z.string().min(1), customer: z.string(), amount: z.number() });
