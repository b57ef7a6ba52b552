/** A server of a test's own, and a tool that may ask it. */
import type { lookup } from "node:dns";
import { createServer, type IncomingMessage, type RequestListener } from "node:http";
import type { AddressInfo, Server } from "node:net";
import { buffer } from "node:stream/consumers";
import { onTestFinished } from "vitest";
import { httpToolOver } from "../../../functions/http/http-tool.ts";
import type { HttpToolOptions } from "../../../functions/http/options.ts";
import { isNonRetryable, isRetryable, retryAfterOf } from "../../../shared/errors.ts";
import type { AnyTool, ToolContext } from "../../../shared/tool.ts";
import { toolContext } from "../../support/tool-context.ts";

export type Arrived = {
  readonly method: string | undefined;
  readonly path: string | undefined;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
};

/** An answer in full, or what a handler does by itself. */
type Told =
  | RequestListener
  | { readonly status?: number; readonly headers?: Record<string, string | string[]>; readonly body?: string | Buffer };

/** By path; any other is answered 404. It ends with the test. */
export async function serving(answers: Readonly<Record<string, Told>>) {
  const arrived: Arrived[] = [];
  const server = createServer(async (request, response) => {
    const { method, url: path, headers } = request;
    const told = answers[path ?? ""] ?? { status: 404 };
    if (typeof told === "function") {
      arrived.push({ method, path, headers, body: "" });
      return told(request, response);
    }
    const body = await buffer(request).catch(() => Buffer.alloc(0));
    arrived.push({ method, path, headers, body: body.toString() });
    response.writeHead(told.status ?? 200, told.headers).end(told.body);
  });
  let connections = 0;
  server.on("connection", () => {
    connections += 1;
  });
  const port = await listening(server);
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { origin: `http://127.0.0.1:${port}`, port, arrived, connections: () => connections };
}

export async function listening(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
}

/** A resolver that says what it is told, by name; the first answer first, and the last one ever after. */
export function resolving(names: Readonly<Record<string, readonly string[]>>) {
  const asked: string[] = [];
  const resolve = (name: string, _options: unknown, callback: (...answer: unknown[]) => void): void => {
    asked.push(name);
    const all = names[name];
    const nth = asked.filter((one) => one === name).length - 1;
    const address = all?.[nth] ?? all?.at(-1);
    if (address === undefined)
      callback(Object.assign(new Error(`getaddrinfo ENOTFOUND ${name}`), { code: "ENOTFOUND" }));
    else {
      const found = address.split(" ").map((one) => ({ address: one, family: one.includes(":") ? 6 : 4 }));
      callback(null, found);
    }
  };
  // The overloads of node's own lookup are many, and a socket calls this one alone.
  return { resolve: resolve as unknown as typeof lookup, asked };
}

export const contextWith = (part: Partial<ToolContext> = {}): ToolContext =>
  toolContext({ operationId: "op-1", fencingToken: 3, ...part });

export type Given = {
  readonly method?: string;
  readonly url: string;
  readonly headers?: unknown;
  readonly body?: unknown;
  readonly readAs?: string;
  readonly timeoutMs?: number;
};

/** A tool, as the runtime uses it: input and output go through its schemas. */
export function toolWith(options: Partial<HttpToolOptions> = {}, resolve = resolving({}).resolve) {
  const tool: AnyTool = httpToolOver({ name: "call", ...options }, resolve);
  return {
    tool,
    ask: async ({ method = "GET", ...given }: Given, context: ToolContext = contextWith()) =>
      tool.execute(await tool.input.parseAsync({ method, ...given }), context),
    inputFault: (given: Given): string | undefined => {
      const issue = tool.input.safeParse({ method: "GET", ...given }).error?.issues[0];
      return issue && `${issue.path.map(String).join(".")}: ${issue.message}`;
    },
    outputFault: (output: unknown): string | undefined => {
      const issue = tool.output.safeParse(output).error?.issues[0];
      return issue && `${issue.path.map(String).join(".")}: ${issue.message}`;
    },
  };
}

/** One that may ask this server, and nothing else that is not public. */
export const toolFor = ({ origin }: { readonly origin: string }, options: Partial<HttpToolOptions> = {}) =>
  toolWith({ privateOrigins: [origin], ...options });

export type Thrown = {
  /** What is certain of the effect. */
  readonly says: "again" | "never" | "unknown";
  readonly message: string;
  readonly retryAfterMs: number | undefined;
  readonly error: unknown;
};

/** What the runtime makes of what the tool throws. */
export const thrownBy = (promise: Promise<unknown>): Promise<Thrown> =>
  promise.then(
    (value) => {
      throw new Error(`nothing was thrown, but ${JSON.stringify(value)} returned`);
    },
    (error: unknown) => ({
      says: isRetryable(error) ? "again" : isNonRetryable(error) ? "never" : "unknown",
      message: error instanceof Error ? error.message : String(error),
      retryAfterMs: retryAfterOf(error),
      error,
    }),
  );
