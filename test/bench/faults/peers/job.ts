/** The voucher job as a handler does it by itself: three calls, one after another. */
import { passGate } from "../pass-gate.ts";

export type Job = { readonly customer: string };

/** @param keyOf gives the key to send with a step's call; without it none is sent. */
export async function doJob({ customer }: Job, keyOf?: (step: string) => string): Promise<void> {
  await passGate("before", customer);
  const call = (path: string, body: unknown) => post(path, body, keyOf?.(path));
  const { code } = await call("/vouchers", { customer, amount: 25 });
  await call("/saved-vouchers", { customer, code });
  await call("/mails", { customer, code });
}

async function post(path: string, body: unknown, key: string | undefined): Promise<{ readonly code?: string }> {
  const response = await fetch(`${process.env.PROVIDER_URL}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...(key === undefined ? {} : { "idempotency-key": key }) },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${path} answered ${response.status}`);
  return (await response.json()) as { readonly code?: string };
}
