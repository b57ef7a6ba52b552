/** How the end-to-end tools tell the provider's ledger of a call. */
import * as z from "zod";
import type { ToolContext } from "../../../shared/tool.ts";

/** `epoch` makes the outputs of two attempts differ. */
export const entered = z.strictObject({ ordinal: z.int(), epoch: z.int() });

export async function enter(
  context: ToolContext,
  input: unknown,
  key = context.operationId,
): Promise<z.infer<typeof entered>> {
  const node = encodeURIComponent(context.nodeId);
  // No abort signal: the call itself is short, and what is tested is what follows it.
  const response = await fetch(`${process.env.PROVIDER_URL}/ledger/${node}`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      "idempotency-key": key,
      "fencing-token": String(context.fencingToken),
      "attempt-key": String(context.attempt),
      "node-id": node,
    },
    body: JSON.stringify({ run_id: context.runId, input }),
  });
  if (!response.ok) throw new Error(`the ledger answered ${response.status}`);
  const { ordinal } = z.object({ ordinal: z.int() }).parse(await response.json());
  return { ordinal, epoch: context.fencingToken };
}
