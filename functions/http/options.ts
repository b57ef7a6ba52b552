/** What the author of a tool allows the nodes that name it, checked once, when the tool is made. */
import { fixed } from "../../shared/limits.ts";
import type { RetryPolicy } from "../../shared/tool.ts";
import { type HeaderValue, headerNameFault, headerTextFault, sameFor } from "./headers.ts";

export type HttpToolOptions = {
  readonly name: string;
  /**
   * What holds for every endpoint that its nodes may ask. `idempotent`: each knows the header Idempotency-Key. `read_only`: GET and HEAD
   * only. `at_most_once`: none knows keys, and an outcome that nobody knows waits for a person.
   * @default "idempotent"
   */
  readonly effect?: "idempotent" | "read_only" | "at_most_once";
  /** The origins that it may ask, such as "https://api.example.com". @default each with https, port 443 and a public address */
  readonly origins?: readonly string[];
  /** Origins that it may ask although their addresses are not public, such as "http://10.0.0.5:8080". @default none */
  readonly privateOrigins?: readonly string[];
  /**
   * Environment variables of the worker that a header may name as `{ "$env": "PAY_TOKEN" }`, each with the origins that may be sent
   * its value. @default none
   */
  readonly secrets?: Readonly<Record<string, readonly string[]>>;
  /** Sent with each request; a node cannot replace them. @default none */
  readonly headers?: Readonly<Record<string, HeaderValue>>;
  /** How many redirects a GET or HEAD follows, from 0 to 10. @default 0 */
  readonly redirects?: number;
  /** Largest body of a request, in bytes. @default 1 MiB */
  readonly requestBytes?: number;
  /** Largest body of an answer, in bytes. @default 1 MiB */
  readonly responseBytes?: number;
  /** Longest time for one request where its node says nothing, in ms. @default 30 s */
  readonly requestTimeoutMs?: number;
  /** As for any tool. */
  readonly timeoutMs?: number;
  readonly retry?: RetryPolicy;
  readonly pool?: string;
  /** For effect idempotent, and for no other. */
  readonly keyLifetimeMs?: number;
};

export type HttpSettings = {
  readonly effect: NonNullable<HttpToolOptions["effect"]>;
  /** Undefined: any public one. */
  readonly origins: ReadonlySet<string> | undefined;
  readonly privateOrigins: ReadonlySet<string>;
  /** By variable, the origins that may be sent it. */
  readonly secrets: ReadonlyMap<string, ReadonlySet<string>>;
  /** Names in lower case. */
  readonly headers: ReadonlyMap<string, HeaderValue>;
  readonly redirects: number;
  readonly requestBytes: number;
  readonly responseBytes: number;
  readonly requestTimeoutMs: number;
};

const mebibyte = 1_024 * 1_024;
/** The longest that a function of Lambda runs (gettingstarted-limits). */
export const longestRequestMs = 900_000;
const mostRedirects = 10;

/** @throws Error that names the tool, the option, the rule and what came. */
export function settingsOf(options: HttpToolOptions): HttpSettings {
  const wrong = (rule: string): never => {
    throw new Error(`httpTool(${JSON.stringify(options.name)}): ${rule}`);
  };
  const number = (
    name: "redirects" | "requestBytes" | "responseBytes" | "requestTimeoutMs",
    from: number,
    to: number,
  ) => {
    const { [name]: value = defaults[name] } = options;
    const fits = Number.isSafeInteger(value) && value >= from && value <= to;
    return fits ? value : wrong(`${name} must be a whole number from ${from} to ${to}, got ${JSON.stringify(value)}`);
  };
  const origins = (name: string, list: readonly string[]): ReadonlySet<string> => {
    for (const origin of list) {
      if (!isOrigin(origin))
        wrong(`${name} must hold origins such as "https://api.example.com", got ${JSON.stringify(origin)}`);
    }
    return new Set(list);
  };

  const open = options.origins === undefined ? undefined : origins("origins", options.origins);
  const secrets = new Map<string, ReadonlySet<string>>();
  for (const [variable, list] of Object.entries(options.secrets ?? {})) {
    const fault = variableFault(variable);
    if (fault !== undefined) wrong(`secrets ${fault}, got ${JSON.stringify(variable)}`);
    if (list.length === 0) wrong(`secrets.${variable} must name the origins that may be sent it, got none`);
    secrets.set(variable, origins(`secrets.${variable}`, list));
  }
  const headers = new Map<string, HeaderValue>();
  for (const [name, value] of Object.entries(options.headers ?? {})) {
    const fault = headerNameFault(name) ?? (typeof value === "string" ? headerTextFault(name, value) : undefined);
    if (fault !== undefined) wrong(`headers.${name} ${fault}`);
    if (typeof value !== "string" && !secrets.has(value.$env))
      wrong(
        `headers.${name} must name one of secrets (${[...secrets.keys()].join(", ")}), got ${JSON.stringify(value.$env)}`,
      );
    if ([...headers.keys()].some((other) => sameFor(other) === sameFor(name)))
      wrong(`headers.${name} must be there once, got it twice`);
    headers.set(name.toLowerCase(), value);
  }
  const effect = options.effect ?? "idempotent";
  if (effect !== "idempotent" && options.keyLifetimeMs !== undefined)
    wrong(`keyLifetimeMs is only for effect idempotent, got effect ${effect}`);
  return {
    effect,
    origins: open,
    privateOrigins: origins("privateOrigins", options.privateOrigins ?? []),
    secrets,
    headers,
    redirects: number("redirects", 0, mostRedirects),
    requestBytes: number("requestBytes", 1, fixed.outputBytes),
    responseBytes: number("responseBytes", 1, fixed.outputBytes),
    requestTimeoutMs: number("requestTimeoutMs", 1, longestRequestMs),
  };
}

const defaults = {
  redirects: 0,
  requestBytes: mebibyte,
  responseBytes: mebibyte,
  requestTimeoutMs: 30_000,
} as const;

const isOrigin = (text: string): boolean =>
  /^https?:/.test(text) && URL.canParse(text) && new URL(text).origin === text;

/** Lambda keeps the function's own credentials under AWS_ names (configuration-envvars): they are for nobody else. */
function variableFault(name: string): string | undefined {
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) return "must name environment variables";
  return /^_?(AWS|LEASEHOLD)_/i.test(name)
    ? "must not name variables that begin with AWS_, _AWS_ or LEASEHOLD_"
    : undefined;
}
