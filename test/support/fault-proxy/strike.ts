/** What each fault does to the call it strikes. */
import { setTimeout as sleep } from "node:timers/promises";
import { isAlive, isStopped, kill, stop, waitUntil } from "../processes.ts";
import type { ProxiedCall } from "./call.ts";
import type { Exchange, WholeReply } from "./forward.ts";
import type { AwsError, Fault, Moment } from "./rule.ts";

export type Striking = {
  readonly call: ProxiedCall;
  readonly exchange: Exchange;
  /** Resolves when the rule is released. */
  readonly released: Promise<void>;
  /** Sends the call on and notes the reply in the call. */
  forward(): Promise<WholeReply>;
  /** To be called once the fault has happened. */
  happened(pid: number | undefined): void;
};

/** Longest freeze of a stopped process whose call waits with it. */
const longestStopMs = 600_000;

export async function strike(fault: Fault, striking: Striking): Promise<void> {
  const { call, exchange, forward, happened } = striking;
  if ("kill" in fault) return killCaller(fault.kill, striking);
  if ("stop" in fault) return stopCaller(fault.stop, striking);
  if ("hold" in fault) return holdCall(fault.hold, striking);
  if ("delayMs" in fault) {
    happened(await call.pid());
    await sleep(fault.delayMs, undefined, { ref: false });
    return exchange.answer(await forward());
  }
  if ("fail" in fault) {
    exchange.answer(awsReply(fault.fail));
    return happened(await call.pid());
  }
  if ("swallow" in fault) {
    await forward();
    exchange.drop();
    return happened(await call.pid());
  }
  fault satisfies never;
}

async function killCaller(when: Moment, { call, exchange, forward, happened }: Striking): Promise<void> {
  if (when === "after") await forward();
  const pid = await knownCaller(call);
  await kill(pid);
  exchange.drop();
  happened(pid);
}

async function stopCaller(when: Moment, { call, exchange, forward, happened }: Striking): Promise<void> {
  const reply = when === "after" ? await forward() : undefined;
  const pid = await knownCaller(call);
  await stop(pid);
  happened(pid);
  // A stopped process reads nothing, so a reply may go out at once: it is the first thing found on waking.
  if (reply !== undefined) return exchange.answer(reply);
  await waitUntil(async () => !(await isStopped(pid)), longestStopMs, `stopped process ${pid} to be continued`);
  if (!(await isAlive(pid))) return exchange.drop();
  exchange.answer(await forward());
}

async function holdCall(when: Moment, { call, exchange, released, forward, happened }: Striking): Promise<void> {
  const early = when === "after" ? await forward() : undefined;
  happened(await call.pid());
  await released;
  exchange.answer(early ?? (await forward()));
}

async function knownCaller(call: ProxiedCall): Promise<number> {
  const pid = await call.pid();
  if (pid === undefined) throw new Error(`no process found that made call ${call.index}, ${call.action}`);
  return pid;
}

function awsReply({ status, type, message, fields }: AwsError): WholeReply {
  const body = Buffer.from(JSON.stringify({ __type: type, message: message ?? type, ...fields }));
  // Both protocols name the error in the body; SQS clients look into this header for its older name as well.
  const headers = ["content-type", "application/x-amz-json-1.0", "x-amzn-query-error", `${type};Sender`];
  return { status, headers: [...headers, "content-length", String(body.byteLength)], body };
}
