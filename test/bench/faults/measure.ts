/** One job under one kill: started, struck, and watched until it has ended or its time is over. */
import { setTimeout as sleep } from "node:timers/promises";
import { kill } from "../../support/processes.ts";
import type { Provider } from "../../support/provider.ts";
import type { Gate } from "./gate.ts";
import { effectsOf, isOfJob, type Subject } from "./subject.ts";
import { type KillPoint, pathOf } from "./variants.ts";

export type Measured = {
  readonly variant: string;
  readonly killPoint: KillPoint;
  /** Calls of the three services, each that arrived. */
  readonly calls: number;
  readonly lookUps: number;
  readonly vouchers: number;
  readonly saved: number;
  readonly mails: number;
  readonly finished: boolean;
  /** Messages that were still in its queues or dead-letter queues at the end. */
  readonly stuckMessages: number;
  /** How often someone had to say what became of a call. */
  readonly resolutions: number;
  /** From the kill (or the start, where nothing is killed) until the job had finished and no message of it was left. */
  readonly recoveryMs: number | undefined;
};

export const finishesWithinMs = 90_000;
const lookEveryMs = 100;

export async function measure(
  provider: Provider,
  gate: Gate,
  subject: Subject,
  killPoint: KillPoint,
): Promise<Measured> {
  const job = `${subject.name.replaceAll(/\W/g, "-")}/${killPoint.replaceAll(/\W/g, "-")}/${Date.now().toString(36)}`;
  const startedAtMs = performance.now();
  const killed = struck(provider, gate, subject, killPoint, job);
  killed?.catch(() => {}); // It is awaited below, and may fail before that.
  await subject.start(job);
  const fromMs = killed === undefined ? startedAtMs : await inTime(killed, `${job} to be killed`);
  const giveUpAtMs = performance.now() + finishesWithinMs;
  let resolutions = 0;
  let isOver = false;
  while (!isOver && performance.now() < giveUpAtMs) {
    await sleep(lookEveryMs);
    resolutions = await subject.tend(job);
    isOver = (await subject.isFinished(job)) && (await subject.messages()) === 0;
  }
  const endedAtMs = performance.now();
  const count = (path: string): number => effectsOf(provider, job, path).length;
  const references = new Set(provider.calls.filter((call) => isOfJob(call.body, job)).map((call) => call.reference));
  return {
    variant: subject.name,
    killPoint,
    calls: provider.calls.filter((call) => isOfJob(call.body, job)).length,
    lookUps: provider.lookups.filter(({ reference }) => references.has(reference)).length,
    vouchers: count("/vouchers"),
    saved: count("/saved-vouchers"),
    mails: count("/mails"),
    finished: await subject.isFinished(job),
    stuckMessages: await subject.messages(),
    resolutions,
    recoveryMs: isOver ? Math.round(endedAtMs - fromMs) : undefined,
  };
}

/** @returns when the worker was dead, by the monotonic clock; undefined where none is to be killed. */
function struck(
  provider: Provider,
  gate: Gate,
  subject: Subject,
  killPoint: KillPoint,
  job: string,
): Promise<number> | undefined {
  switch (killPoint) {
    case "nothing killed":
      return undefined;
    case "before the first call":
      return gate.killAt("before", [job]);
    case "after all, before the acknowledgement":
      return gate.killAt("return", subject.returning(job));
    case "after buy acted":
    case "after save acted":
    case "after mail acted":
      return killOnceActed(provider, pathOf[killPoint] ?? "", job);
    default:
      return killPoint satisfies never;
  }
}

/** The provider has acted and holds its answer back until the caller is dead. */
const killOnceActed = (provider: Provider, path: string, job: string): Promise<number> =>
  new Promise((resolve, reject) => {
    const stopListening = provider.onActed(async (call) => {
      if (call.path !== path || !isOfJob(call.body, job)) return;
      stopListening();
      try {
        const pid = await call.pid();
        if (pid === undefined) throw new Error("no process found that called the provider");
        await kill(pid);
        resolve(performance.now());
      } catch (error) {
        reject(error);
      }
    });
  });

async function inTime<Value>(promise: Promise<Value>, what: string): Promise<Value> {
  const over = new AbortController();
  const late = sleep(finishesWithinMs, undefined, { signal: over.signal }).then(() => {
    throw new Error(`waited ${finishesWithinMs} ms in vain for ${what}`);
  });
  late.catch(() => {}); // Aborted where the other has won.
  try {
    return await Promise.race([promise, late]);
  } finally {
    over.abort();
  }
}
