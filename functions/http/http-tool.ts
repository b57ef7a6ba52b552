/** A tool that asks any HTTP endpoint, as a node's input says and its author's options allow. */
import type { lookup } from "node:dns";
import * as z from "zod";
import { NonRetryableError } from "../../shared/errors.ts";
import { defineTool, type ToolContext } from "../../shared/tool.ts";
import { checkAnswer, keptHeaders, readBody, readings, redirects } from "./answer.ts";
import { destinationFault } from "./destination.ts";
import { type Answer, exchange, named } from "./exchange.ts";
import { headersFault, sentHeaders } from "./headers.ts";
import { type HttpSettings, type HttpToolOptions, longestRequestMs, settingsOf } from "./options.ts";
import { publicLookup } from "./public-address.ts";

const safeMethods = ["GET", "HEAD"] as const;
const allMethods = [...safeMethods, "POST", "PUT", "PATCH", "DELETE"] as const;
const isSafe = (method: string): boolean => safeMethods.some((safe) => safe === method);

const headerSchema = z.union([z.string(), z.strictObject({ $env: z.string() })], {
  error: 'must be a text or { "$env": name of a variable }',
});

/** What is wrong with a request is found by the start already, where its input holds no references. */
const inputSchema = (settings: HttpSettings) =>
  z
    .strictObject({
      method: z.enum(settings.effect === "read_only" ? safeMethods : allMethods),
      url: z.string(),
      headers: z.record(z.string(), headerSchema).optional(),
      /** A text goes as it is, anything else as JSON. */
      body: z.json().optional(),
      /** Of the answer. @default JSON where its content type is JSON, else text */
      readAs: z.enum(readings).optional(),
      timeoutMs: z.int().min(1).max(longestRequestMs).optional(),
    })
    .superRefine(({ method, url, headers = {}, body }, context) => {
      const fault = (path: readonly string[], message: string): void =>
        context.addIssue({ code: "custom", path: [...path], message });
      const destination = destinationFault(url, settings);
      if (destination !== undefined)
        return fault(destination.part === undefined ? ["url"] : ["url", destination.part], destination.says);
      const header = headersFault(headers, new URL(url).origin, settings);
      if (header !== undefined) return fault(["headers", ...header.path], header.says);
      if (body !== undefined && isSafe(method)) fault(["body"], `must not be there where method is ${method}`);
    });
type Input = z.infer<ReturnType<typeof inputSchema>>;

/**
 * The request has been carried out, so an answer that cannot be handed on breaks the schema: the node ends FAILED with effect
 * `done`, and the request is not sent again.
 */
const outputSchema = z
  .strictObject({
    status: z.int(),
    headers: z.record(z.string(), z.string()),
    body: z.json(),
    fault: z.string().optional(),
  })
  .transform(({ fault, ...answer }, context) => {
    if (fault !== undefined) context.addIssue({ code: "custom", path: ["body"], message: fault });
    return answer;
  });

/** @param resolve how a host's name becomes addresses, which are checked whatever it says. */
export function httpToolOver(options: HttpToolOptions, resolve: typeof lookup) {
  const settings = settingsOf(options);
  const { name, timeoutMs, retry, pool, keyLifetimeMs } = options;
  const tool = {
    name,
    input: inputSchema(settings),
    output: outputSchema,
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(retry === undefined ? {} : { retry }),
    ...(pool === undefined ? {} : { pool }),
    execute: (input: Input, context: ToolContext) => ask(input, context, settings, resolve),
  };
  const { effect } = settings;
  switch (effect) {
    case "idempotent":
      return defineTool({ ...tool, effect, ...(keyLifetimeMs === undefined ? {} : { keyLifetimeMs }) });
    case "read_only":
    case "at_most_once":
      return defineTool({ ...tool, effect });
    default:
      return effect satisfies never;
  }
}

async function ask(input: Input, context: ToolContext, settings: HttpSettings, resolve: typeof lookup) {
  const { method, readAs, timeoutMs = settings.requestTimeoutMs } = input;
  const over = new AbortController();
  const timer = setTimeout(() => over.abort(`${timeoutMs} ms were over`), timeoutMs);
  try {
    const { answer, name, redaction } = await answerTo(input, context, {
      settings,
      resolve,
      signal: AbortSignal.any([context.signal, over.signal]),
    });
    const asked = { name, isSafe: isSafe(method), effect: settings.effect, redaction };
    checkAnswer(answer, { ...asked, nowMs: Date.now() });
    const read = readBody(answer, { reading: readAs, limitBytes: settings.responseBytes, redaction });
    return { status: answer.status, headers: keptHeaders(answer), ...read };
  } finally {
    clearTimeout(timer);
  }
}

type Means = { readonly settings: HttpSettings; readonly resolve: typeof lookup; readonly signal: AbortSignal };

/** The answer that stands at the end of the redirects, where they are followed. */
async function answerTo(
  input: Input,
  { operationId, fencingToken }: ToolContext,
  { settings, resolve, signal }: Means,
) {
  const { method } = input;
  const { type, body } = bodyOf(input, settings.requestBytes);
  let url = new URL(input.url);
  // Read at the call, so that commands and synth can load the tool without any environment.
  const { headers: given, redaction } = sentHeaders(input.headers ?? {}, url.origin, settings, process.env);
  let headers: Readonly<Record<string, string>> = {
    "user-agent": "leasehold",
    ...(type === undefined ? {} : { "content-type": type }),
    ...given,
    "idempotency-key": operationId,
    "fencing-token": String(fencingToken),
  };
  for (let hop = 0; ; hop++) {
    const isPrivate = settings.privateOrigins.has(url.origin);
    // A redirect's path is of the server's writing, too.
    const name = redaction.all(named({ method, url }));
    const answer = await exchange({
      name,
      method,
      url,
      headers: { ...headers, "accept-encoding": "identity" },
      body,
      lookup: isPrivate ? undefined : publicLookup(resolve),
      responseBytes: settings.responseBytes,
      signal,
    });
    const next = hop < settings.redirects && isSafe(method) ? nextOf(answer, { url, name }, settings) : undefined;
    if (next === undefined) return { answer, name, redaction };
    // Whatever was meant for one origin is not another's business.
    if (next.origin !== url.origin) headers = {};
    url = next;
  }
}

/** @throws NonRetryableError where a redirect leads to where the tool must not go. */
function nextOf(
  { status, headers }: Answer,
  from: { readonly url: URL; readonly name: string },
  settings: HttpSettings,
): URL | undefined {
  const { location } = headers;
  if (!redirects.has(status) || location === undefined || !URL.canParse(location, from.url.href)) return undefined;
  const next = new URL(location, from.url);
  const fault = destinationFault(next.href, settings);
  if (fault === undefined) return next;
  throw new NonRetryableError(`${from.name} answered ${status}: the redirect ${fault.says}`);
}

/** @throws NonRetryableError where the body is too large to be sent. */
function bodyOf({ body }: Input, mostBytes: number): { readonly type?: string; readonly body: Buffer | undefined } {
  if (body === undefined) return { body: undefined };
  const isText = typeof body === "string";
  const bytes = Buffer.from(isText ? body : JSON.stringify(body), "utf8");
  if (bytes.length > mostBytes)
    throw new NonRetryableError(`body must be at most ${mostBytes} bytes, got ${bytes.length}`);
  return { type: isText ? "text/plain; charset=utf-8" : "application/json", body: bytes };
}
