/** Where there is no answer: what is certain, by whether anything was sent. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import http from "node:http";
import { createServer as createSecureServer } from "node:https";
import { createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { exchange } from "../../../functions/http/exchange.ts";
import { deferred } from "../../support/deferred.ts";
import { contextWith, listening, resolving, serving, thrownBy, toolFor, toolWith } from "./asking.ts";
import { selfSigned } from "./certificate.ts";

/** A server of bare bytes. */
async function raw(serve: (socket: Socket) => void) {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    serve(socket);
  });
  const port = await listening(server);
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { origin: `http://127.0.0.1:${port}`, port, sockets };
}

const post = (origin: string) => ({ method: "POST", url: `${origin}/x?a`, body: { cents: 500 } });

describe("before anything was sent, it is certain that nothing was done, and the node is tried again", () => {
  test("where nobody listens", async () => {
    const server = await raw(() => {});
    const free = createServer();
    const port = await listening(free);
    free.close();
    await once(free, "close");
    const origin = `http://127.0.0.1:${port}`;
    const { says, message } = await thrownBy(toolFor({ origin }).ask(post(origin)));
    expect([says, message]).toEqual(["again", `POST ${origin}/x was not sent: connect ECONNREFUSED 127.0.0.1:${port}`]);
    expect(server.sockets.size).toBe(0);
  });

  test("where all addresses of a name refuse", async () => {
    const free = createServer();
    const port = await listening(free);
    free.close();
    await once(free, "close");
    const origin = `http://some.example:${port}`;
    const { resolve } = resolving({ "some.example": ["127.0.0.1 127.0.0.2"] });
    // A tool asks the system for a private origin's addresses, so this asks without a tool.
    const asked = exchange({
      name: "some",
      method: "POST",
      url: new URL(origin),
      headers: {},
      body: Buffer.from("x"),
      lookup: (host, options, callback) => resolve(host, options, callback as never),
      responseBytes: 1,
      signal: new AbortController().signal,
    });
    expect(await thrownBy(asked)).toMatchObject({ says: "again", message: expect.stringContaining("ECONNREFUSED") });
  });

  test("where nobody knows the name", async () => {
    const { ask } = toolWith({}, resolving({}).resolve);
    const { says, message } = await thrownBy(ask(post("https://gone.example")));
    expect([says, message]).toEqual([
      "again",
      "POST https://gone.example/x was not sent: getaddrinfo ENOTFOUND gone.example",
    ]);
  });

  test("where the server does not speak TLS", async () => {
    const server = await raw((socket) => socket.once("data", () => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n")));
    const origin = `https://127.0.0.1:${server.port}`;
    expect(await thrownBy(toolFor({ origin }).ask(post(origin)))).toMatchObject({ says: "again" });
  });

  test("where nobody vouches for the server's certificate", async () => {
    const { origin, requests } = await secure();
    const { says, message } = await thrownBy(toolFor({ origin }).ask(post(origin)));
    expect(says).toBe("again");
    expect(message).toMatch(/^POST https:\/\/localhost:\d+\/x was not sent: self-signed certificate/);
    expect(requests).toEqual([]);
  });

  test("where the attempt was told to stop before", async () => {
    const server = await serving({});
    const signal = AbortSignal.abort("cancelled");
    const { says, message } = await thrownBy(toolFor(server).ask(post(server.origin), contextWith({ signal })));
    expect([says, message]).toEqual(["again", `POST ${server.origin}/x was not sent: it was told to stop (cancelled)`]);
    expect(server.connections()).toBe(0);
  });

  test("where time is up while the connection is being made", async () => {
    // It takes the connection, and never greets.
    const server = await raw(() => {});
    const origin = `https://127.0.0.1:${server.port}`;
    const { says, message } = await thrownBy(toolFor({ origin }).ask({ ...post(origin), timeoutMs: 50 }));
    expect([says, message]).toEqual(["again", `POST ${origin}/x was not sent: it was told to stop (50 ms were over)`]);
  });
});

describe("once it may have been sent, nobody knows what became of it", () => {
  const unknown = async (serve: (socket: Socket) => void, timeoutMs?: number) => {
    const { origin } = await raw(serve);
    return thrownBy(toolFor({ origin }).ask({ ...post(origin), ...(timeoutMs === undefined ? {} : { timeoutMs }) }));
  };

  test.each<[string, (socket: Socket) => void]>([
    ["where the server takes the connection and drops it", (socket) => socket.destroy()],
    ["where it drops it after the request", (socket) => socket.once("data", () => socket.destroy())],
    ["where it ends it without an answer", (socket) => socket.once("data", () => socket.end())],
    ["where it answers in another protocol", (socket) => socket.once("data", () => socket.end("220 smtp ready\r\n"))],
    [
      "where it switches protocols",
      (socket) =>
        socket.once("data", () => socket.write("HTTP/1.1 101 x\r\nupgrade: h2c\r\nconnection: upgrade\r\n\r\n")),
    ],
    [
      "where its headers have no end",
      (socket) => socket.once("data", () => socket.write(`HTTP/1.1 200 OK\r\nx: ${"x".repeat(20_000)}`)),
    ],
    [
      "where a success breaks off in its body",
      (socket) => socket.once("data", () => socket.end("HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf")),
    ],
  ])("%s", async (_what, serve) => {
    const { says, message } = await unknown(serve);
    expect(says).toBe("unknown");
    expect(message).toMatch(/^POST http:\/\/127\.0\.0\.1:\d+\/x was sent, and what became of it is unknown: ./);
  });

  test("where the server does not answer in time", async () => {
    const { says, message } = await unknown(() => {}, 50);
    expect(says).toBe("unknown");
    expect(message).toContain("is unknown: it was told to stop (50 ms were over)");
  });

  test("where the body does not come in time", async () => {
    const stalled = (socket: Socket) => socket.once("data", () => socket.write("HTTP/1.1 200 OK\r\n\r\nhalf"));
    expect(await unknown(stalled, 100)).toMatchObject({ says: "unknown" });
  });

  test("where the attempt is told to stop, which ends the connection", async () => {
    const abort = new AbortController();
    const closed = deferred<void>();
    const { origin } = await raw((socket) => {
      socket.once("data", () => abort.abort("lease_lost"));
      socket.once("close", () => closed.resolve());
    });
    const { says, message } = await thrownBy(
      toolFor({ origin }).ask(post(origin), contextWith({ signal: abort.signal })),
    );
    expect(says).toBe("unknown");
    expect(message).toContain("it was told to stop (lease_lost)");
    await closed.promise;
  });
});

describe("a name that leads inside", () => {
  test("is refused when it is connected to, and nobody is", async () => {
    const server = await serving({});
    const { resolve, asked } = resolving({ "inside.example": ["127.0.0.1"] });
    const { ask } = toolWith({ origins: [`http://inside.example:${server.port}`] }, resolve);
    const { says, message } = await thrownBy(ask(post(`http://inside.example:${server.port}`)));
    expect([says, message]).toEqual([
      "never",
      `POST http://inside.example:${server.port}/x: url must name a host at a public address, or an origin in privateOrigins, got inside.example at 127.0.0.1`,
    ]);
    expect(asked).toEqual(["inside.example"]);
    expect(server.connections()).toBe(0);
  });

  test("is asked for its addresses with each connection", async () => {
    const server = await serving({});
    const { resolve, asked } = resolving({ "rebinding.example": ["10.0.0.1", "127.0.0.1 ::ffff:169.254.169.254"] });
    const origin = `http://rebinding.example:${server.port}`;
    const { ask } = toolWith({ origins: [origin] }, resolve);
    for (const addresses of ["10.0.0.1", "127.0.0.1, ::ffff:169.254.169.254"]) {
      const { says, message } = await thrownBy(ask(post(origin)));
      expect([says, message.endsWith(`got rebinding.example at ${addresses}`)]).toEqual(["never", true]);
    }
    expect(asked).toHaveLength(2);
    expect(server.connections()).toBe(0);
  });

  test("is connected to where its origin is a private one", async () => {
    const server = await serving({ "/x": { body: "inside" } });
    const origin = `http://localhost:${server.port}`;
    expect(await toolFor({ origin }).ask({ url: `${origin}/x` })).toMatchObject({ body: "inside" });
  });
});

test("an address of several has seconds to answer in, and not the 250 ms that Node gives it", async () => {
  const server = await serving({ "/x": {} });
  const request = vi.spyOn(http, "request");
  onTestFinished(() => request.mockRestore());
  await toolFor(server).ask({ url: `${server.origin}/x` });
  expect(request.mock.calls[0]?.[1]).toMatchObject({ autoSelectFamilyAttemptTimeout: 3_000 });
});

const folders: string[] = [];
afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true });
});

async function secure() {
  const pair = selfSigned("localhost");
  const requests: string[] = [];
  const server = createSecureServer(pair, (request, response) => {
    requests.push(`${request.method} ${request.headers["idempotency-key"]}`);
    response.end("safe");
  });
  const port = await listening(server);
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { ...pair, requests, origin: `https://localhost:${port}` };
}

test("a server whose certificate is trusted is asked over TLS", async () => {
  const { origin, cert, requests } = await secure();
  const folder = await mkdtemp(join(tmpdir(), "leasehold-http-"));
  folders.push(folder);
  const authorities = join(folder, "ca.pem");
  await writeFile(authorities, cert);
  const tool = new URL("../../../functions/http/index.ts", import.meta.url);
  const program = `
    import { httpTool } from ${JSON.stringify(tool.href)};
    const { execute } = httpTool({ name: "call", privateOrigins: ["${origin}"] });
    const context = { operationId: "op-1", fencingToken: 1, signal: new AbortController().signal };
    console.log((await execute({ method: "POST", url: "${origin}/x" }, context)).body);`;
  // Node reads the variable when it starts, so the tool runs in a process of its own.
  const child = spawn(process.execPath, ["--import", "tsx", "--input-type=module", "--eval", program], {
    env: { ...process.env, NODE_EXTRA_CA_CERTS: authorities },
    stdio: ["ignore", "pipe", "inherit"],
  });
  expect(await text(child.stdout)).toBe("safe\n");
  expect(requests).toEqual(["POST op-1"]);
});
