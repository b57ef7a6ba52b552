/** The place where a worker asks before it goes on, and where the bench kills it. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { kill, ownerOf } from "../../support/processes.ts";

export type Gate = {
  readonly url: string;
  /** Kills the first worker that asks at this point with a text that holds all parts. @returns when it was dead. */
  killAt(point: "before" | "return", parts: readonly string[]): Promise<number>;
  stop(): Promise<void>;
};

type Order = {
  readonly fits: (path: string, body: string) => boolean;
  readonly done: (atMs: number) => void;
  readonly failed: (error: unknown) => void;
};

export async function openGate(): Promise<Gate> {
  const orders = new Set<Order>();
  const server = createServer(async (request, response) => {
    response.on("error", () => {}); // The caller is dead: that is what this gate is for.
    const { socket } = request;
    const body = await text(request).catch(() => "");
    const order = [...orders].find(({ fits }) => fits(request.url ?? "", body));
    if (order === undefined) return void response.end();
    orders.delete(order);
    try {
      const pid = await ownerOf(socket);
      if (pid === undefined) throw new Error("no process found that asked at the gate");
      await kill(pid);
      order.done(performance.now());
    } catch (error) {
      order.failed(error);
    }
  });
  server.keepAliveTimeout = 0;
  server.on("connection", (socket) => void ownerOf(socket));
  await new Promise<void>((resolve, reject) => server.on("error", reject).listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    killAt: (point, parts) =>
      new Promise((done, failed) => {
        const fits = (path: string, body: string) => path === `/${point}` && parts.every((part) => body.includes(part));
        orders.add({ fits, done, failed });
      }),
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
