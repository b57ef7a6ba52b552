/** One request and its answer, over a connection of its own; and where there is no answer, whether anything was sent. */
import http from "node:http";
import https from "node:https";
import type { LookupFunction } from "node:net";
import { isNonRetryable, NonRetryableError, RetryableError } from "../../shared/errors.ts";

export type Exchange = {
  /** What is asked, to be told. */
  readonly name: string;
  readonly method: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | undefined;
  /** How the host's name becomes addresses. @default the system's way, unchecked */
  readonly lookup: LookupFunction | undefined;
  readonly responseBytes: number;
  /** Ends the exchange; its reason is told. */
  readonly signal: AbortSignal;
};

export type Answer = {
  readonly status: number;
  /** Names in lower case; what came twice is joined with a comma. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** False where the body went on beyond `responseBytes`, or broke off in an answer that is no success. */
  readonly isWhole: boolean;
};

/** Of an answer that is no success, so much is enough to say why. */
const failureBytes = 4_096;
const headerBytes = 16_384;
/**
 * Node gives each address of a name but the last 250 ms and then gives it up (net, `autoSelectFamilyAttemptTimeout`): too few for
 * another continent, where the rest leads nowhere, as IPv6 in most VPCs. An address that refuses costs no time.
 */
const perAddress = { autoSelectFamilyAttemptTimeout: 3_000 };

/** A request's address without its query, to be told. */
export const named = ({ method, url }: Pick<Exchange, "method" | "url">): string =>
  `${method} ${url.origin}${url.pathname}`;

/**
 * @throws NonRetryableError or RetryableError where it is certain that nothing was sent; any other error where the request may
 * have arrived.
 */
export async function exchange(asked: Exchange): Promise<Answer> {
  const { method, url, headers, body, lookup, signal } = asked;
  if (signal.aborted) throw notSent(asked, stopReason(signal), undefined);
  const isSecure = url.protocol === "https:";
  const request = (isSecure ? https : http).request(url, {
    method,
    headers: { ...headers, ...(body === undefined ? {} : { "content-length": body.length }) },
    // No agent: no connection that someone else has opened, none that lives on, and no proxy of the environment.
    agent: false,
    maxHeaderSize: headerBytes,
    ...perAddress,
    ...(lookup === undefined ? {} : { lookup }),
  });
  let mayBeSent = false;
  // Node holds back what is written until then; with TLS, until it trusts the server's certificate.
  request.on("socket", (socket) => socket.once(isSecure ? "secureConnect" : "connect", () => (mayBeSent = true)));
  const stop = (): void => void request.destroy();
  signal.addEventListener("abort", stop);
  try {
    const response = await answerTo(request, body);
    return { ...headOf(response), ...(await bodyOf(response, asked.responseBytes)) };
  } catch (error) {
    const why = signal.aborted ? stopReason(signal) : reasonOf(error);
    if (mayBeSent)
      throw new Error(`${asked.name} was sent, and what became of it is unknown: ${why}`, { cause: error });
    if (isNonRetryable(error)) throw new NonRetryableError(`${asked.name}: ${why}`);
    throw notSent(asked, why, error);
  } finally {
    signal.removeEventListener("abort", stop);
    request.destroy();
  }
}

const notSent = (asked: Exchange, why: string, cause: unknown): RetryableError =>
  new RetryableError(`${asked.name} was not sent: ${why}`, cause === undefined ? {} : { cause });

const stopReason = (signal: AbortSignal): string => {
  const { reason } = signal;
  return `it was told to stop (${reason instanceof Error ? reason.message : String(reason)})`;
};

/** Where all addresses of a host failed, the error that says so has a code and no message. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code: unknown = Reflect.get(error, "code");
  return error.message === "" ? String(code) : error.message;
}

const answerTo = (request: http.ClientRequest, body: Buffer | undefined): Promise<http.IncomingMessage> =>
  new Promise((resolve, reject) => {
    request.on("response", resolve);
    // They stay: what comes after the answer is told by the answer's own stream.
    request.on("error", reject);
    // A switch of protocols closes the connection without an error.
    request.on("close", () => reject(new Error("the connection was closed without an answer")));
    request.end(body);
  });

/** From the raw ones: elder versions of Node throw where a server calls a header `constructor` or `__proto__`. */
function headOf({ statusCode = 0, rawHeaders }: http.IncomingMessage): Pick<Answer, "status" | "headers"> {
  const headers = new Map<string, string>();
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]?.toLowerCase() ?? "";
    const before = headers.get(name);
    const value = rawHeaders[at + 1] ?? "";
    headers.set(name, before === undefined ? value : `${before}, ${value}`);
  }
  return { status: statusCode, headers: Object.fromEntries(headers) };
}

async function bodyOf(response: http.IncomingMessage, limitBytes: number): Promise<Pick<Answer, "body" | "isWhole">> {
  const { statusCode = 0 } = response;
  const isSuccess = statusCode >= 200 && statusCode < 300;
  const mostBytes = isSuccess ? limitBytes : Math.min(limitBytes, failureBytes);
  const parts: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const part of response as AsyncIterable<Buffer>) {
      parts.push(part);
      bytes += part.length;
      if (bytes > mostBytes) break;
    }
  } catch (error) {
    // What the status says stands, with or without the rest of the text.
    if (isSuccess) throw error;
    return { body: Buffer.concat(parts).subarray(0, mostBytes), isWhole: false };
  }
  return { body: Buffer.concat(parts).subarray(0, mostBytes), isWhole: bytes <= mostBytes };
}
