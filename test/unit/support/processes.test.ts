import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { isAlive, isStopped, kill, pidOfPeer, resume, stop, waitUntil } from "../../support/processes.ts";
import { type Caller, startCaller } from "./caller.ts";

const started: (() => void)[] = [];
afterEach(() => {
  for (const end of started.splice(0)) end();
});

async function setup(): Promise<Caller> {
  const caller = await startCaller();
  started.push(caller.end);
  return caller;
}

async function listen(): Promise<{ url: string; port: number; peers: number[] }> {
  const peers: number[] = [];
  const server = createServer((request, response) => {
    peers.push(request.socket.remotePort ?? 0);
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  started.push(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, port, peers };
}

describe("pidOfPeer", () => {
  test("of a connection that another process has opened is that process", async () => {
    const [caller, server] = await Promise.all([setup(), listen()]);
    caller.post(server.url, {});
    const peer = await waitUntil(() => server.peers[0], 5_000, "the call");
    expect(await pidOfPeer(peer, server.port)).toBe(caller.pid);
    expect(await pidOfPeer(peer)).toBe(caller.pid);
  });

  test("two processes that call at once are told apart", async () => {
    const [first, second, server] = await Promise.all([setup(), setup(), listen()]);
    first.post(server.url, {});
    second.post(server.url, {});
    await waitUntil(() => server.peers.length === 2, 5_000, "both calls");
    const pids = await Promise.all(server.peers.map((peer) => pidOfPeer(peer, server.port)));
    expect(new Set(pids)).toEqual(new Set([first.pid, second.pid]));
  });

  test("of a port that nobody connects from, or to another server, is nobody", async () => {
    const [caller, server] = await Promise.all([setup(), listen()]);
    caller.post(server.url, {});
    const peer = await waitUntil(() => server.peers[0], 5_000, "the call");
    expect(await pidOfPeer(peer, server.port + 1)).toBeUndefined();
    expect(await pidOfPeer(1)).toBeUndefined();
  });
});

describe("a process", () => {
  test("that is killed is dead when kill resolves, and may be killed again", async () => {
    const { pid } = await setup();
    expect(await isAlive(pid)).toBe(true);
    await kill(pid);
    expect(await isAlive(pid)).toBe(false);
    await kill(pid);
  });

  test("that is stopped stands still and is alive, until it is resumed", async () => {
    const [caller, server] = await Promise.all([setup(), listen()]);
    await stop(caller.pid);
    expect(await isStopped(caller.pid)).toBe(true);
    expect(await isAlive(caller.pid)).toBe(true);
    caller.post(server.url, {});
    await expect(waitUntil(() => caller.said.length > 0, 200, "an answer")).rejects.toThrow("an answer");
    await resume(caller.pid);
    await waitUntil(() => caller.said.length > 0, 5_000, "an answer");
  });

  test("that is the test itself is never signalled", async () => {
    await expect(kill(process.pid)).rejects.toThrow("refusing");
  });
});

describe("waitUntil", () => {
  test("gives what the condition gave, and names what it waited for in vain", async () => {
    let asked = 0;
    expect(await waitUntil(() => (++asked === 3 ? "third" : undefined), 1_000, "the third time")).toBe("third");
    await expect(waitUntil(() => false, 50, "the impossible")).rejects.toThrow(
      "waited 50 ms in vain for the impossible",
    );
  });
});
