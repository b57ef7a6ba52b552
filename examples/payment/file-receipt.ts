import * as z from "zod";
import { defineTool } from "../../shared/tool.ts";

/** Where receipts are kept, by charge: filing one again overwrites it with the same. */
export type Receipts = { put(chargeId: string, text: string): Promise<void> };

export const fileReceipt = (receipts: Receipts) =>
  defineTool({
    name: "file-receipt",
    input: z.strictObject({ charge_id: z.string(), cents: z.int() }),
    output: z.strictObject({ filed: z.string() }),
    effect: "idempotent",
    async execute({ charge_id, cents }) {
      await receipts.put(charge_id, `charged ${cents} cents`);
      return { filed: charge_id };
    },
  });
