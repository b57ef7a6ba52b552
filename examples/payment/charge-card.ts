/** A payment whose provider honours idempotency keys: what each of its answers says of the charge. */
import * as z from "zod";
import { NonRetryableError, RetryableError } from "../../shared/errors.ts";
import { defineTool } from "../../shared/tool.ts";

/** As the global `fetch` is: an argument, so that a test can be the provider. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** After so long this provider has forgotten a key, and the same request would be a new charge. */
const keyLifetimeMs = 3_600_000;

export const chargeCard = (send: Fetch) =>
  defineTool({
    name: "charge-card",
    input: z.strictObject({ card: z.string().min(1), cents: z.int().positive() }),
    output: z.object({ charge_id: z.string(), cents: z.int() }),
    effect: "idempotent",
    keyLifetimeMs,
    retry: { attempts: 30, backoffBaseMs: 1_000, backoffMaxMs: 900_000 },
    timeoutMs: 20_000,
    async execute({ card, cents }, { operationId, signal }) {
      // A connection that breaks throws an error of its own: nobody knows what became of it, and the same key makes a repeat harmless.
      const response = await send(`${providerAddress()}/charges`, {
        method: "POST",
        headers: { "content-type": "application/json", "idempotency-key": operationId },
        body: JSON.stringify({ card, cents }),
        // A redirect is an answer like others: followed, it would take the card's number to wherever it leads.
        redirect: "manual",
        signal,
      });
      const text = await response.text();
      if (response.ok) return JSON.parse(text);
      throw refusal(response.status, text, Number(response.headers.get("retry-after") ?? Number.NaN));
    },
  });

/** Which of the three kinds of error an answer is. Take your provider's own words for it; where they say nothing, it is unknown. */
function refusal(status: number, text: string, retryAfterSeconds: number): Error {
  const said = `the provider answered ${status}: ${text.slice(0, 200)}`;
  // It did nothing yet, and says when to come back.
  if (status === 429) return new RetryableError(said, { retryAfterMs: retryAfterSeconds * 1_000 });
  // Another call with this key is under way, or something in between gave up waiting: whether the card is charged is still open.
  if (status === 409 || status === 408 || status === 425) return new Error(said);
  // Declined, or a request that no repeat makes better.
  if (status >= 400 && status < 500) return new NonRetryableError(said);
  // A 500 may come before the charge or after it.
  return new Error(said);
}

/** Read at the call and not at the import: the module is loaded at synth, too, where there is no such variable. */
function providerAddress(): string {
  const address = process.env.PAY_URL;
  if (!address)
    throw new NonRetryableError("the environment variable PAY_URL must hold the provider's address, got nothing");
  return address;
}
