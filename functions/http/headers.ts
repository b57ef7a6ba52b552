/** The headers of a request: which of them a node may set, and how it names a secret without holding one. */
import { NonRetryableError } from "../../shared/errors.ts";
import type { HttpSettings } from "./options.ts";
import { type Redaction, redactionOf } from "./redaction.ts";

/** The text itself, or the worker's environment variable that holds it: inputs are stored, so a secret must not stand in one. */
export type HeaderValue = string | { readonly $env: string };

/** Set by the tool: to replace them would break its guarantee. */
const own: ReadonlySet<string> = new Set(["idempotency-key", "fencing-token", "accept-encoding"]);
/** What frames the message on its connection (RFC 9112), or says to whom it goes. */
const framing: ReadonlySet<string> = new Set([
  "connection",
  "content-length",
  "expect",
  "host",
  "keep-alive",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);
/** Always secrets. */
const secret: ReadonlySet<string> = new Set(["authorization", "cookie"]);

const longestValue = 8_192;

/** One name for all that a server may take for the same: CGI and its heirs hand both `-` and `_` on as `_` (RFC 3875, 4.1.18). */
export const sameFor = (name: string): string => name.toLowerCase().replaceAll("_", "-");

/** @returns what is wrong with the name of a header that someone else sets. */
export function headerNameFault(name: string): string | undefined {
  if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/.test(name))
    return "must be a header's name: 1 to 100 letters, digits and -";
  const same = sameFor(name);
  if (own.has(same)) return "must not be set: the tool sets it itself";
  if (framing.has(same) || same.startsWith("proxy-")) return "must not be set: it belongs to the connection";
  return undefined;
}

/** @returns what is wrong with a text that stands there in full; never the text, which may be a secret. */
export function headerTextFault(name: string, text: string): string | undefined {
  if (secret.has(name.toLowerCase()))
    return 'must be { "$env": name of a variable }: inputs are stored, and it is a secret';
  return valueFault(text);
}

function valueFault(text: string): string | undefined {
  if (text.length > longestValue) return `must be at most ${longestValue} characters, got ${text.length}`;
  return /^[\t\x20-\x7e]*$/.test(text) ? undefined : "must hold printable ASCII only, got another character";
}

export type HeaderFault = { readonly path: readonly string[]; readonly says: string };
type Headers = Readonly<Record<string, HeaderValue>>;

/** @returns what is wrong with the headers of one request. */
export function headersFault(headers: Headers, origin: string, settings: HttpSettings): HeaderFault | undefined {
  const seen = new Set<string>();
  for (const [name, value] of Object.entries(headers)) {
    const says = headerNameFault(name) ?? repeatedFault(name, seen, settings);
    // The path leads past the value, so that no refusal shows it.
    if (says !== undefined) return { path: [name, "name"], says };
    seen.add(sameFor(name));
    const fault = typeof value === "string" ? headerTextFault(name, value) : secretFault(value.$env, origin, settings);
    if (fault !== undefined) return { path: [name, "$env"], says: fault };
  }
  return undefined;
}

function repeatedFault(name: string, seen: ReadonlySet<string>, { headers }: HttpSettings): string | undefined {
  const same = sameFor(name);
  if (seen.has(same)) return "must be there once, got it twice";
  return [...headers.keys()].some((own) => sameFor(own) === same)
    ? "must not be set: the tool sets it itself"
    : undefined;
}

/** A secret is bound to the origins that may have it: whoever writes inputs could send it anywhere else. */
function secretFault(variable: string, origin: string, { secrets }: HttpSettings): string | undefined {
  const origins = secrets.get(variable);
  if (origins === undefined) {
    const known = secrets.size === 0 ? "none of which this tool has" : `one of ${[...secrets.keys()].join(", ")}`;
    return `must name one of the tool's secrets, ${known}, got ${JSON.stringify(variable.slice(0, 100))}`;
  }
  if (origins.has(origin)) return undefined;
  return `${variable} may be sent to ${[...origins].join(", ")} only, got ${origin}`;
}

export type SentHeaders = {
  readonly headers: Readonly<Record<string, string>>;
  readonly redaction: Redaction;
};

/**
 * The headers as they are sent.
 * @throws NonRetryableError where a variable is not set, or the tool's own secret is not for this origin.
 */
export function sentHeaders(
  asked: Headers,
  origin: string,
  settings: HttpSettings,
  environment: Readonly<Record<string, string | undefined>>,
): SentHeaders {
  const headers: Record<string, string> = {};
  const secrets = new Map<string, string>();
  for (const [name, value] of [...settings.headers, ...Object.entries(asked)]) {
    if (typeof value === "string") {
      headers[name.toLowerCase()] = value;
      continue;
    }
    const fault = secretFault(value.$env, origin, settings);
    if (fault !== undefined) throw new NonRetryableError(`headers.${name}: ${fault}`);
    const text = environment[value.$env];
    const wrong = text === undefined || text === "" ? "must be set, got nothing" : valueFault(text);
    if (wrong !== undefined) throw new NonRetryableError(`the environment variable ${value.$env} ${wrong}`);
    headers[name.toLowerCase()] = text ?? "";
    secrets.set(value.$env, text ?? "");
  }
  return { headers, redaction: redactionOf(secrets) };
}
