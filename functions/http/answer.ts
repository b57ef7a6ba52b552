/** What an answer says of the effect, and what of it is handed on. */
import type * as z from "zod";
import { NonRetryableError, RetryableError } from "../../shared/errors.ts";
import type { Answer } from "./exchange.ts";
import type { HttpSettings } from "./options.ts";
import type { Redaction } from "./redaction.ts";
import { retryAfterMsOf } from "./retry-after.ts";

export type Asked = {
  /** What was asked, to be told. */
  readonly name: string;
  readonly isSafe: boolean;
  readonly effect: HttpSettings["effect"];
  readonly nowMs: number;
  readonly redaction: Redaction;
};

const shownLength = 500;

/** The answers that say that the resource is elsewhere, at `location`. */
export const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
/**
 * Sent after an effect, too: a form that was taken leads to its confirmation. Only 307 and 308 say that nothing was done
 * here (RFC 9110, 15.4).
 */
const leadsOnAfterEffect: ReadonlySet<number> = new Set([301, 302, 303]);
/**
 * Nobody knows: 408 and 425 come from something in between as well as from the end, and a 409 may mean that a call with this key
 * is under way.
 */
const unclear: ReadonlySet<number> = new Set([408, 409, 425]);

/** @throws the error that says what is known of the effect, where the answer is no success. */
export function checkAnswer(answer: Answer, asked: Asked): void {
  const { status, headers } = answer;
  if (status >= 200 && status < 300) return;
  const said = asked.redaction.all(sayingOf(answer, asked)).slice(0, shownLength);
  const delayMs = retryAfterMsOf(headers["retry-after"], asked.nowMs);
  // "At once", and a date that has passed by this clock, would use up all attempts within a second: then the back-off decides.
  const again = () => new RetryableError(said, delayMs === undefined || delayMs === 0 ? {} : { retryAfterMs: delayMs });

  if (status === 429) throw again();
  // A server that says when to come back has not begun. Without that, proxies say 503 when the server behind them broke off in the middle.
  if (status === 503 && delayMs !== undefined) throw again();
  const isUnclear =
    status >= 500 || unclear.has(status) || (leadsOnAfterEffect.has(status) && !asked.isSafe) || status < 200;
  if (!isUnclear) throw new NonRetryableError(said);
  // What changes nothing has no outcome that could be unknown.
  throw asked.effect === "read_only" ? again() : new Error(said);
}

function sayingOf({ status, headers, body, isWhole }: Answer, { name, redaction }: Asked): string {
  const { location } = headers;
  if (redirects.has(status) && location !== undefined)
    return `${name} answered ${status}: it leads to ${location}, and is not followed`;
  const came = isIdentity(headers) ? body.toString("utf8").trim() : "";
  const text = isWhole ? came : redaction.tornEnd(came);
  return text === "" ? `${name} answered ${status}` : `${name} answered ${status}: ${text}`;
}

const isIdentity = (headers: Answer["headers"]): boolean =>
  ["", "identity"].includes((headers["content-encoding"] ?? "").toLowerCase());

export const readings = ["json", "text", "base64"] as const;
export type Reading = (typeof readings)[number];

type Json = z.infer<ReturnType<typeof z.json>>;
/** A body, or what is wrong with it: its request was carried out, so this is no reason to send it again. */
export type Read = { readonly body: Json; readonly fault?: string };

export type Wanted = {
  /** @default JSON where the content type is JSON, else text */
  readonly reading: Reading | undefined;
  readonly limitBytes: number;
  readonly redaction: Redaction;
};

export function readBody(answer: Answer, { reading, limitBytes, redaction }: Wanted): Read {
  const { headers, body, isWhole } = answer;
  const wrong = (fault: string): Read => ({ body: null, fault });
  const shown = (came: string): string => redaction.all(came).slice(0, 100);
  if (!isWhole) return wrong(`must be at most ${limitBytes} bytes, got more`);
  if (body.length === 0) return { body: null };
  if (!isIdentity(headers))
    return wrong(`must come without content-encoding, got ${shown(headers["content-encoding"] ?? "")}`);
  const type = headers["content-type"] ?? "";
  const as = reading ?? (/^[^;]*[/+]json\s*(;|$)/i.test(type) ? "json" : "text");
  if (as === "base64") return { body: body.toString("base64") };
  const text = textOf(body, as === "json" ? "utf-8" : charsetOf(type));
  if (text === undefined)
    return wrong(
      `must be text, got other bytes of content-type ${shown(type) || "none"}; "readAs": "base64" takes them`,
    );
  if (as === "text") return { body: text };
  try {
    const value: Json = JSON.parse(text);
    return { body: value };
  } catch {
    return wrong(`must be JSON, got ${JSON.stringify(shown(text))}; "readAs": "text" takes it`);
  }
}

const charsetOf = (type: string): string => /;\s*charset\s*=\s*"?([^";\s]+)/i.exec(type)?.[1] ?? "utf-8";

function textOf(body: Buffer, charset: string): string | undefined {
  try {
    return new TextDecoder(charset, { fatal: true }).decode(body);
  } catch {
    return undefined;
  }
}

/** What the server sets for the next request of a browser is a secret more often than not, and outputs are stored. */
export const keptHeaders = ({ headers }: Answer): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => name !== "set-cookie"));
