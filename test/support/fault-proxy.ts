/**
 * Stands between one function and an AWS endpoint, sees each call, and kills, stops, holds, delays, fails or swallows
 * what a test has ordered. Shipped code has no hook for this: the function's endpoint variable leads here.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { deferred } from "./deferred.ts";
import { callOf, type ProxiedCall, targetOf } from "./fault-proxy/call.ts";
import { exchangeOf } from "./fault-proxy/forward.ts";
import { type Fault, type KillCase, type Match, matcherOf, type Rule, type Strike } from "./fault-proxy/rule.ts";
import { strike } from "./fault-proxy/strike.ts";
import { ownerOf, resume } from "./processes.ts";

export type { ProxiedCall } from "./fault-proxy/call.ts";
export { type KillCase, mentions, type Rule } from "./fault-proxy/rule.ts";

export type FaultProxy = {
  readonly url: string;
  readonly port: number;
  /** Each call since the last reset, in the order of arrival. */
  readonly calls: readonly ProxiedCall[];
  /** Orders a fault. Of several rules that fit a call the one ordered first strikes; all of them count it. */
  on(match: Match, fault: Fault): Rule;
  /** Orders a generated case. */
  arm(killCase: KillCase): Rule;
  /** Forgets calls and rules, lets go of all that is held and continues all that is stopped. */
  reset(): Promise<void>;
  /** As `reset`, then breaks all connections and closes. */
  stop(): Promise<void>;
};

type OrderedRule = Rule & {
  readonly fault: Fault;
  readonly released: Promise<void>;
  strikesAt(call: ProxiedCall): boolean;
  happened(strike: Strike): void;
  failed(error: unknown): void;
};

export async function startFaultProxy({ target, port = 0 }: { target: string; port?: number }): Promise<FaultProxy> {
  const targetUrl = new URL(target);
  const ending = new AbortController();
  const calls: ProxiedCall[] = [];
  const rules: OrderedRule[] = [];

  const order = (match: Match, fault: Fault): Rule => {
    const rule = orderedRule(match, fault);
    rules.push(rule);
    return rule;
  };

  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const isJsonCall = targetOf(request) !== undefined;
    const body = isJsonCall ? await buffer(request) : undefined;
    const call = callOf(request, calls.length, body);
    calls.push(call);
    const exchange = exchangeOf(targetUrl, request, response, body, ending.signal);
    const forward = async () => {
      const reply = await exchange.forward();
      call.reply = { status: reply.status, text: reply.body.toString("utf8") };
      return reply;
    };
    const [rule] = rules.filter((candidate) => candidate.strikesAt(call));
    try {
      if (rule !== undefined) {
        const happened = (pid: number | undefined) => rule.happened({ call, pid });
        await strike(rule.fault, { call, exchange, released: rule.released, forward, happened });
      } else if (isJsonCall) exchange.answer(await forward());
      else call.reply = { status: await exchange.pass(), text: "" };
    } catch (error) {
      rule?.failed(error);
      exchange.drop();
    }
  };

  const server = createServer((request, response) => {
    response.on("error", () => {}); // The caller is dead or gone; that is what this proxy is for.
    serve(request, response).catch(() => request.socket.destroy());
  });
  // An idle connection is the caller's to close: a time-out here would be a fault nobody ordered.
  server.keepAliveTimeout = 0;
  server.requestTimeout = 0;
  server.headersTimeout = 0;
  server.on("connection", (socket) => void ownerOf(socket));
  await new Promise<void>((resolve, reject) => server.on("error", reject).listen(port, "127.0.0.1", resolve));
  const address = server.address() as AddressInfo;

  const reset = async (): Promise<void> => {
    const former = rules.splice(0);
    calls.length = 0;
    await Promise.all(former.map((rule) => rule.release()));
  };

  return {
    url: `http://127.0.0.1:${address.port}`,
    port: address.port,
    calls,
    on: order,
    arm: ({ at, when }) => order({ at }, { kill: when }),
    reset,
    stop: async () => {
      ending.abort(); // First, so that nothing let go of now still reaches the target.
      await reset();
      await new Promise((resolve) => {
        server.close(resolve);
        server.closeAllConnections();
      });
    },
  };
}

function orderedRule(match: Match, fault: Fault): OrderedRule {
  const strikes: Strike[] = [];
  const struck = deferred<Strike>();
  const released = deferred<void>();
  return {
    fault,
    strikes,
    struck: struck.promise,
    released: released.promise,
    strikesAt: matcherOf(match),
    happened: (strike) => {
      strikes.push(strike);
      struck.resolve(strike);
    },
    failed: struck.reject,
    release: async () => {
      released.resolve();
      if (!("stop" in fault)) return;
      for (const { pid } of strikes) if (pid !== undefined) await resume(pid);
    },
  };
}
