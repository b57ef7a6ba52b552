/** How the voucher's tools call their provider, and what each answer says about the effect. */
import { NonRetryableError, RetryableError } from "../../shared/errors.ts";
import type { Reconciled, ToolContext } from "../../shared/tool.ts";
import { retryAfterMsOf } from "../http/retry-after.ts";

/** Posts JSON under the operation's id, so that the provider can tell a repeat from a new order. */
export const callProvider = <Answer>(path: string, body: unknown, context: ToolContext): Promise<Answer> =>
  post(path, body, context, { "idempotency-key": context.operationId });

/** Posts JSON to a provider that knows no keys: each call that arrives is a new order. */
export const callKeyless = <Answer>(path: string, body: unknown, context: ToolContext): Promise<Answer> =>
  post(path, body, context, {});

/**
 * Asks whether an order stands under the operation's id. Only a clear answer counts: any other status, a broken connection
 * and an abort throw, and then nothing is known.
 */
export async function lookUp<Answer>(path: string, context: ToolContext): Promise<Reconciled<Answer>> {
  const { operationId, signal } = context;
  const response = await fetch(addressOf(`${path}/by-operation/${encodeURIComponent(operationId)}`), {
    redirect: "error",
    signal,
  });
  if (!response.ok) throw new Error(`${path}/by-operation answered ${response.status}`);
  const said = (await response.json()) as { readonly found?: unknown; readonly answer?: unknown };
  if (said.found === true) return { is: "done", output: said.answer as Answer };
  return said.found === false ? { is: "not_done" } : { is: "unknown" };
}

/**
 * The runtime checks the answer against the tool's output schema, which is what makes the type true.
 * @throws RetryableError or NonRetryableError where it is certain that nothing was done, and any other error where it is not:
 * a broken connection, an abort or a 500 may come after the effect.
 */
async function post<Answer>(
  path: string,
  body: unknown,
  context: ToolContext,
  key: Readonly<Record<string, string>>,
): Promise<Answer> {
  const response = await fetch(addressOf(path), {
    method: "POST",
    headers: {
      "content-type": "application/json",
      "fencing-token": String(context.fencingToken),
      ...key,
    },
    body: JSON.stringify(body),
    redirect: "error",
    signal: context.signal,
  });
  if (response.ok) return (await response.json()) as Answer;

  const said = `${path} answered ${response.status}: ${(await response.text()).slice(0, 500)}`;
  const retryAfterMs = retryAfterMsOf(response.headers.get("retry-after"), Date.now());
  // A server that says when to come back has not begun. Without that, proxies say 503 when the server behind them broke off.
  if (response.status === 429 || (response.status === 503 && retryAfterMs !== undefined))
    throw new RetryableError(said, retryAfterMs === undefined ? {} : { retryAfterMs });
  // A 409 says that a call with this key is under way: whether that one acts, nobody knows yet.
  const isRefused = response.status >= 400 && response.status < 500 && response.status !== 409;
  if (isRefused) throw new NonRetryableError(said);
  throw new Error(said);
}

/** Read at the call and not at the import, so that commands and synth can load the tools without any environment. */
function addressOf(path: string): URL {
  const base = process.env.PROVIDER_URL;
  if (!base) throw new NonRetryableError("the environment variable PROVIDER_URL must hold the provider's address");
  try {
    return new URL(`.${path}`, base.endsWith("/") ? base : `${base}/`);
  } catch (cause) {
    throw new NonRetryableError(`the environment variable PROVIDER_URL must be an address, got ${base}`, { cause });
  }
}
