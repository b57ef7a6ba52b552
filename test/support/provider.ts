/**
 * The outside world of the tests: an HTTP service that honours idempotency keys where it is given them, looks operations up
 * by their reference, writes down every call and every effect, and can be told to be slow, to fail, or to hang after it has acted.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { type Deferred, deferred } from "./deferred.ts";
import { ownerOf } from "./processes.ts";
import { type Behaviour, behaviours } from "./provider/behaviour.ts";
import { type Answer, type Effect, type Lookup, ledger, type ProviderCall } from "./provider/ledger.ts";
import { serviceAt } from "./provider/services.ts";

export type { Lookup, ProviderCall } from "./provider/ledger.ts";

/** Runs between the effect and its answer, which waits for it: the moment to kill the process at the other end. */
type ActedListener = (call: ProviderCall) => void | Promise<void>;

export type Provider = {
  readonly url: string;
  readonly calls: readonly ProviderCall[];
  readonly effects: readonly Effect[];
  readonly lookups: readonly Lookup[];
  callsOf(path: string): readonly ProviderCall[];
  effectsOf(path: string): readonly Effect[];
  /** `nth` counts the calls of a path from 1; without it the behaviour is that of all its calls. */
  tell(path: string, behaviour: Behaviour, nth?: number): void;
  /** The n-th call of a path, from 1, which may have come already. Rejects when the provider stops before. */
  whenCalled(path: string, n: number): Promise<ProviderCall>;
  /** For each effect made; a repeat that makes none is not told. @returns how to stop listening. */
  onActed(listener: ActedListener): () => void;
  /** Lets all hanging calls answer, and all later ones. */
  release(): void;
  stop(): Promise<void>;
};

type Wait = { readonly path: string; readonly n: number; readonly called: Deferred<ProviderCall> };

export async function startProvider({ port = 0 }: { port?: number } = {}): Promise<Provider> {
  const book = ledger();
  const told = behaviours();
  const listeners = new Set<ActedListener>();
  const waits = new Set<Wait>();
  const released = deferred<void>();
  const callsOf = (path: string): ProviderCall[] => book.calls.filter((call) => call.path === path);

  const note = (call: ProviderCall): number => {
    book.calls.push(call);
    const nth = callsOf(call.path).length;
    for (const wait of waits) if (wait.path === call.path && wait.n === nth) wait.called.resolve(call);
    return nth;
  };

  const answerTo = async (request: IncomingMessage): Promise<Answer> => {
    if (request.method === "GET" && request.url === "/")
      return { status: 200, body: { calls: book.calls, effects: book.effects } };
    const asked = request.method === "GET" ? lookupOf(request) : undefined;
    if (asked !== undefined) return book.look(asked);
    const call = callOf(request, await json(request).catch(() => undefined), book.calls.length + 1);
    const service = serviceAt(call.path);
    if (service === undefined || request.method !== "POST") return { status: 404, body: { error: "no such service" } };
    const { slowMs = 0, fail, hang = false } = told.of(call.path, note(call));
    await sleep(slowMs, undefined, { ref: false });
    const failure = fail && { status: fail.status, body: { error: "as told" }, retryAfter: fail.retryAfter };
    if (failure && fail.when === "before") return failure;
    const wanted = service.body.safeParse(call.body);
    if (!wanted.success) return { status: 400, body: { error: wanted.error.issues } };
    const { acted, answer } = book.act(call, (ordinal) => service.make(call.body, ordinal));
    if (acted) for (const listener of listeners) await listener(call);
    if (hang) await released.promise;
    return failure ?? answer;
  };

  const server = createServer((request, response) => {
    answerTo(request).then(
      (answer) => send(response, answer),
      (error) => request.socket.destroy(error),
    );
  });
  server.keepAliveTimeout = 0;
  server.on("connection", (socket) => void ownerOf(socket));
  await new Promise<void>((resolve, reject) => server.on("error", reject).listen(port, "127.0.0.1", resolve));

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls: book.calls,
    effects: book.effects,
    lookups: book.lookups,
    callsOf,
    effectsOf: (path) => book.effects.filter((effect) => effect.path === path),
    tell: told.tell,
    whenCalled: async (path, n) => {
      const already = callsOf(path)[n - 1];
      if (already !== undefined) return already;
      const wait: Wait = { path, n, called: deferred() };
      waits.add(wait);
      return wait.called.promise;
    },
    onActed: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    release: () => released.resolve(),
    stop: async () => {
      for (const { path, n, called } of waits)
        called.reject(new Error(`the provider was stopped before call ${n} of ${path}`));
      await new Promise((resolve) => {
        server.close(resolve);
        server.closeAllConnections();
      });
    },
  };
}

function lookupOf(request: IncomingMessage): Omit<Lookup, "found"> | undefined {
  const [, path, reference] = /^(\/.+)\/by-operation\/([^/]+)$/.exec(request.url ?? "") ?? [];
  if (path === undefined || reference === undefined || serviceAt(path) === undefined) return undefined;
  const { socket } = request;
  return { atMs: Date.now(), path, reference: decodeURIComponent(reference), pid: () => ownerOf(socket) };
}

const referenceIn = (body: unknown): string | undefined => {
  const reference: unknown = typeof body === "object" && body !== null ? Reflect.get(body, "reference") : undefined;
  return typeof reference === "string" ? reference : undefined;
};

function callOf(request: IncomingMessage, body: unknown, sequence: number): ProviderCall {
  const header = (name: string): string | undefined => request.headersDistinct[name]?.[0];
  const fencingToken = header("fencing-token");
  const nodeId = header("node-id");
  const { socket } = request;
  return {
    sequence,
    atMs: Date.now(),
    path: new URL(request.url ?? "/", "http://provider").pathname,
    operationId: header("idempotency-key"),
    fencingToken: fencingToken === undefined ? undefined : Number(fencingToken),
    attemptKey: header("attempt-key"),
    nodeId: nodeId === undefined ? undefined : decodeURIComponent(nodeId),
    body,
    reference: referenceIn(body),
    peerPort: socket.remotePort,
    pid: () => ownerOf(socket),
  };
}

function send(response: ServerResponse, { status, body, retryAfter }: Answer): void {
  response.on("error", () => {}); // The caller may be dead by now.
  const headers = retryAfter === undefined ? {} : { "retry-after": retryAfter };
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
}
