/** One call's way to the target and back. Nothing here knows of faults. */
import { type IncomingMessage, request as open, type ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";

export type Exchange = {
  /** Sends the call and reads the whole reply. Goes on when the caller has died, as a request on the wire would. */
  forward(): Promise<WholeReply>;
  /** Sends the call and streams the reply to the caller. Resolves with the status. */
  pass(): Promise<number>;
  answer(reply: WholeReply): void;
  /** Breaks the caller's connection without a reply. */
  drop(): void;
};

export type WholeReply = { readonly status: number; readonly headers: readonly string[]; readonly body: Buffer };

/** `body` is what was read of an AWS JSON call; any other call's body is still in the request, and is streamed. */
export function exchangeOf(
  target: URL,
  request: IncomingMessage,
  response: ServerResponse,
  body: Buffer | undefined,
  ending: AbortSignal,
): Exchange {
  const send = (): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      const upstream = open({
        host: target.hostname,
        port: target.port,
        method: request.method,
        path: request.url,
        headers: hopless(request.rawHeaders),
        // A connection of its own for each call: a kept one that the target has just closed would be a fault nobody ordered.
        agent: false,
        signal: ending,
      });
      upstream.on("error", reject).on("response", resolve);
      if (body !== undefined) upstream.end(body);
      else pipeline(request, upstream).catch(reject);
    });
  response.sendDate = false; // The target's own is passed on.
  const startReply = (status: number, headers: readonly string[]): ServerResponse =>
    response.writeHead(status, [...headers]);

  return {
    forward: async () => {
      const reply = await send();
      return { status: reply.statusCode ?? 502, headers: hopless(reply.rawHeaders), body: await buffer(reply) };
    },
    pass: async () => {
      const reply = await send();
      const status = reply.statusCode ?? 502;
      await pipeline(reply, startReply(status, hopless(reply.rawHeaders)));
      return status;
    },
    answer: (reply) => void startReply(reply.status, reply.headers).end(reply.body),
    drop: () => void request.socket.destroy(),
  };
}

/** All headers as they came, names and order kept, but for those that speak of one connection only. */
function hopless(rawHeaders: readonly string[]): string[] {
  const kept: string[] = [];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const [name = "", value = ""] = rawHeaders.slice(at, at + 2);
    if (!["connection", "keep-alive", "proxy-connection"].includes(name.toLowerCase())) kept.push(name, value);
  }
  return kept;
}
