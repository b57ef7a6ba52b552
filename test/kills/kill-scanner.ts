/**
 * The scanner's cases, on a stack whose relay never runs: all that is committed is stranded until a scanner finds it. One
 * run for each case, all at once: a pass looks at one run after another, so each kill strikes its own run's look.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { StagedStack } from "../chaos/stage.ts";
import type { Rule } from "../support/fault-proxy.ts";
import { waitUntil } from "../support/processes.ts";
import { type NamedCall, namedCalls } from "./call-name.ts";
import { diamond, newRunId, type PossibleEnds } from "./diamond.ts";
import { judge, type KillCase, type KillResult, orderKill, proxyOf } from "./kill-case.ts";

const scanner = { of: "scanner" } as const;
const endedWithinMs = 180_000;
const emptyWithinMs = 30_000;
const acceptedWithinMs = 30_000;

/** What each pass of the scanner calls for an undisturbed run; in the first pass with work also each shard's index query. */
export async function scannerCalls(stack: StagedStack): Promise<readonly NamedCall[]> {
  const proxy = proxyOf(stack, scanner);
  await proxy.reset();
  const runId = newRunId();
  await start(stack, runId);
  const calls: NamedCall[] = [];
  await untilEnded(stack, [runId], async () => {
    await stack.scan();
    calls.splice(0, calls.length, ...namedCalls("scanner", proxy, runId));
  });
  const firstPassEndsAt = calls.findIndex(({ name, nth }) => isOfShards(name) && nth === shards);
  return calls.filter(({ name }, place) => !isOfShards(name) || place <= firstPassEndsAt);
}

const shards = 16;
const isOfShards = (name: string): boolean => name.startsWith("Query: due runs");

const start = async (stack: StagedStack, runId: string): Promise<void> => {
  const command = await stack.client.startRun({ runId, nodes: diamond });
  await command.accepted({ timeoutMs: acceptedWithinMs });
};

/** Passes only when all that was woken is done and what followed from it has been stranded for long enough. */
async function untilEnded(
  stack: StagedStack,
  runIds: readonly string[],
  pass: () => Promise<void>,
  ended: (runId: string) => void = () => {},
): Promise<void> {
  const living = new Set(runIds);
  const giveUpAtMs = Date.now() + endedWithinMs;
  while (living.size > 0) {
    if (Date.now() > giveUpAtMs) throw new Error(`the scanner did not end ${living.size} runs in ${endedWithinMs} ms`);
    await sleep(stack.limits.strandedMs + stack.limits.scanEveryMs / 4);
    await pass();
    await waitUntil(async () => (await stack.depth()) === 0, emptyWithinMs, "what was woken to be done");
    for (const runId of living) {
      const run = await stack.client.getRun(runId);
      if (run?.ended !== true) continue;
      living.delete(runId);
      ended(runId);
    }
  }
}

type Struck = { readonly killCase: KillCase; readonly runId: string; readonly rule: Rule; endedAtMs: number };

export async function killScanner(
  stack: StagedStack,
  cases: readonly KillCase[],
  possible: PossibleEnds,
): Promise<readonly { readonly killCase: KillCase; readonly result: KillResult }[]> {
  const proxy = proxyOf(stack, scanner);
  await proxy.reset();
  const all: Struck[] = [];
  const order = async (killCase: KillCase): Promise<Rule> => {
    const runId = newRunId();
    const rule = orderKill(proxy, runId, killCase);
    all.push({ killCase, runId, rule, endedAtMs: 0 });
    await start(stack, runId);
    return rule;
  };
  // Every pass asks every shard, so these kills are ordered one after another, each for a pass of its own.
  for (const killCase of cases.filter(({ name }) => isOfShards(name))) {
    const rule = await order(killCase);
    while (rule.strikes.length === 0) if (await lives(stack)) throw new Error(`no pass died at ${killCase.name}`);
  }
  for (const killCase of cases.filter(({ name }) => !isOfShards(name))) await order(killCase);
  const byRun = new Map(all.map((one) => [one.runId, one]));
  await untilEnded(
    stack,
    [...byRun.keys()],
    async () => {
      // A scanner that dies is invoked again at once.
      while (!(await lives(stack)));
    },
    (runId) => {
      const one = byRun.get(runId);
      if (one !== undefined) one.endedAtMs = Date.now();
    },
  );
  return Promise.all(
    all.map(async (one) => ({ killCase: one.killCase, result: await resultOf(stack, one, possible) })),
  );
}

/** One pass. @returns whether the scanner lived to its end. */
const lives = (stack: StagedStack): Promise<boolean> =>
  stack.scan().then(
    () => true,
    () => false,
  );

async function resultOf(stack: StagedStack, one: Struck, possible: PossibleEnds): Promise<KillResult> {
  const { killCase, runId, rule, endedAtMs } = one;
  const [strike] = rule.strikes;
  const faults = await judge(stack, runId, rule.strikes.length, possible).catch((error: unknown) => [String(error)]);
  return {
    ...killCase,
    repairedBy: "the next pass",
    tookMs: strike === undefined ? 0 : Math.max(0, endedAtMs - strike.call.atMs),
    faults: strike === undefined ? ["the call was never made", ...faults] : faults,
  };
}
