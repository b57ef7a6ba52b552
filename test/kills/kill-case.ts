/** One case: a fresh diamond, the killing of one function's process at one of its calls, and what became of the run. */
import type { RunView } from "../../client/index.ts";
import type { StagedStack } from "../chaos/stage.ts";
import { ledgersOf, readEnded, verdictOn } from "../chaos/verdict.ts";
import type { FaultProxy, ProxiedCall, Rule } from "../support/fault-proxy.ts";
import { waitUntil } from "../support/processes.ts";
import { callName, isFor, type NamedCall } from "./call-name.ts";
import { diamond, newRunId, otherThanSimulated, type PossibleEnds } from "./diamond.ts";

export type KillCase = NamedCall & { readonly when: "before" | "after" };

export type KillResult = KillCase & {
  readonly repairedBy: string;
  /** From the kill to the end of the run, or to the last trace of the repair where the run had ended by then. */
  readonly tookMs: number;
  readonly faults: readonly string[];
};

export const casesOf = (calls: readonly NamedCall[]): readonly KillCase[] =>
  calls.flatMap((call) => (["before", "after"] as const).map((when) => ({ ...call, when })));

const struckWithinMs = 25_000;
const acceptedWithinMs = 30_000;
/** Beyond the longest way back of a message; whoever is not done by then needs the scanner. */
const endedAloneWithinMs = 25_000;
const endedByScannerWithinMs = 30_000;
const emptyWithinMs = 30_000;

export function orderKill(proxy: FaultProxy, runId: string, { name, nth, when }: KillCase): Rule {
  const isOfRun = isFor(runId);
  return proxy.on({ where: (call) => isOfRun(call) && callName(call) === name, nth }, { kill: when });
}

export const proxyOf = (stack: StagedStack, { of }: Pick<NamedCall, "of">): FaultProxy => {
  const proxy = stack.proxies[of];
  if (proxy === undefined) throw new Error(`calls of ${of} do not go through a proxy in stack ${stack.name}`);
  return proxy;
};

/** On a stack that has no other run at the time. The scanner is invoked only where nobody else ends the run. */
export async function killOnce(stack: StagedStack, killCase: KillCase, possible: PossibleEnds): Promise<KillResult> {
  for (const proxy of Object.values(stack.proxies)) await proxy.reset();
  const proxy = proxyOf(stack, killCase);
  const runId = newRunId();
  const rule = orderKill(proxy, runId, killCase);
  const faults: string[] = [];
  let repairedBy = "?";
  let killedAtMs = Date.now();
  let endedAtMs = killedAtMs;
  try {
    const command = await stack.client.startRun({ runId, nodes: diamond });
    await within(rule.struck, struckWithinMs, "the call to be made");
    killedAtMs = Date.now();
    await command.accepted({ timeoutMs: acceptedWithinMs });
    const byScanner = await endOf(stack, runId);
    endedAtMs = Date.now();
    // What died is repeated in any case: the queue's message and the stream's record are still there.
    const again = await waitUntil(
      () => repeatOf(proxy, runId, killCase, killedAtMs),
      emptyWithinMs,
      "what died to be done again",
    );
    await waitUntil(async () => (await stack.depth()) === 0, emptyWithinMs, "the queues to be empty");
    endedAtMs = Math.max(endedAtMs, again.atMs);
    repairedBy = byScanner ? "scanner" : repairOf(killCase, again);
    faults.push(...(await judge(stack, runId, rule.strikes.length, possible)));
  } catch (error) {
    faults.push(error instanceof Error ? error.message : String(error));
  }
  return { ...killCase, repairedBy, tookMs: endedAtMs - killedAtMs, faults };
}

/** @returns whether the scanner was needed. */
async function endOf(stack: StagedStack, runId: string): Promise<boolean> {
  const alone = await stack.client.waitForRun(runId, { timeoutMs: endedAloneWithinMs }).catch(() => undefined);
  if (alone !== undefined) return false;
  const pass = async (): Promise<RunView | false | undefined> => {
    await stack.scan();
    const run = await stack.client.getRun(runId);
    return run?.ended && run;
  };
  await waitUntil(pass, endedByScannerWithinMs, "the scanner to end the run");
  return true;
}

/**
 * The first call after the kill that does again what died. Other workers go on with other nodes meanwhile, so theirs is the
 * second claim of a node, which nothing but a kill brings about.
 */
function repeatOf(proxy: FaultProxy, runId: string, { of }: KillCase, killedAtMs: number): ProxiedCall | undefined {
  const calls = proxy.calls.filter(isFor(runId));
  if (of !== "worker") return calls.find((call) => call.atMs >= killedAtMs);
  const claimed = new Set<string>();
  for (const call of calls) {
    const name = callName(call);
    if (!name.includes("claim")) continue;
    if (claimed.has(name)) return call;
    claimed.add(name);
  }
  return undefined;
}

function repairOf({ of }: KillCase, again: ProxiedCall): string {
  const wasNeeded = again.reply?.status === 200;
  switch (of) {
    case "commands":
      return wasNeeded ? "the command came back" : "nothing to repair: the command came back and found its run";
    case "relay":
      return "the record came again";
    case "worker":
      return wasNeeded ? "the message came back and was claimed" : "nothing to repair: the message came back, refused";
    case "scanner":
      return "the next pass";
    default:
      return of satisfies never;
  }
}

/** The end of a run that has been killed so often. */
export async function judge(
  stack: StagedStack,
  runId: string,
  kills: number,
  possible: PossibleEnds,
): Promise<readonly string[]> {
  const ledger = ledgersOf(stack.provider)(runId);
  const ended = await readEnded(stack, runId, ledger);
  const faults = [...verdictOn(stack, ended), ...otherThanSimulated(ended, possible)];
  const effects = [...ledger.effects.values()].reduce((sum, count) => sum + count, 0);
  if (effects !== diamond.length) faults.push(`effect: ${effects} effects of ${diamond.length} nodes`);
  if (ledger.calls.length > effects + kills)
    faults.push(`effect: ${ledger.calls.length} calls for ${effects} effects and ${kills} kills`);
  const epochs = ended.nodes.reduce((sum, { epoch }) => sum + epoch, 0);
  if (epochs > diamond.length + kills)
    faults.push(`I3: ${epochs} claims of ${diamond.length} nodes and ${kills} kills`);
  const rejected = await stack.rejected();
  if (rejected.length > 0)
    faults.push(`I13: ${rejected.length} messages were rejected: ${JSON.stringify(rejected[0])}`);
  return faults;
}

export function within<T>(promise: Promise<T>, timeoutMs: number, what: string): Promise<T> {
  const late = new Promise<never>((_, reject) => {
    const timer = setTimeout(() => reject(new Error(`waited ${timeoutMs} ms in vain for ${what}`)), timeoutMs);
    promise.finally(() => clearTimeout(timer)).catch(() => {});
  });
  return Promise.race([promise, late]);
}
