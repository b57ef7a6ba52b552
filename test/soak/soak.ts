/**
 * npm run soak -- --minutes N [--seed S] [--json FILE]: runs without a pause on a local AWS, while random processes of
 * random functions are killed and the mappings go off and on; the last third is without kills, so that the handlers'
 * memory can be watched. At the end the ledger is compared with the states.
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { seeded } from "../../testing/seeded.ts";
import { startAiming, startKilling } from "../chaos/killing.ts";
import { openStage, type StagedStack } from "../chaos/stage.ts";
import { type Ended, ledgersOf, readEnded, verdictOn } from "../chaos/verdict.ts";
import { waitUntil } from "../support/processes.ts";
import { countersIn } from "./counters.ts";
import { unexplained } from "./expected.ts";
import { type Load, startLoad } from "./load.ts";
import { type MemoryReport, startSampling } from "./memory.ts";
import type { SoakRun } from "./random-run.ts";
import { startScanning, startToggling } from "./toggling.ts";

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "3" },
    seed: { type: "string", default: "1" },
    json: { type: "string" },
  },
});

const killEveryMs = 2_500;
/** Of all effects, those at which somebody dies. */
const aimedShare = 0.02;
const scanEveryMs = 1_500;
/** Commands that were killed twice, leases, retries: then a run that lives on is stuck. */
const endedWithinMs = 180_000;
const emptyWithinMs = 60_000;
const killed = [
  ...Array.from({ length: 5 }, () => "worker" as const),
  ...(["relay", "relay", "commands", "scanner"] as const),
];

type Soaked = {
  readonly started: readonly SoakRun[];
  readonly kills: Readonly<Record<string, number>>;
  /** In the midst of work. */
  readonly aimedKills: Readonly<Record<string, number>>;
  readonly toggles: Readonly<Record<string, number>>;
  readonly passes: Readonly<Record<string, number>>;
  readonly memory: readonly MemoryReport[];
  readonly faults: string[];
};

async function soak(stack: StagedStack, minutes: number, seed: number): Promise<Soaked> {
  const faults: string[] = [];
  const note = (error: unknown): void => void faults.push(error instanceof Error ? error.message : String(error));
  const load = startLoad(stack, seeded(seed));
  const scanning = startScanning(stack, scanEveryMs);
  const sampling = startSampling(stack);
  const killing = startKilling(stack, { of: killed, everyMs: killEveryMs, random: seeded(seed + 1) });
  const aiming = startAiming(stack, { random: seeded(seed + 3), chance: aimedShare });
  const toggling = startToggling(stack, seeded(seed + 2));
  const wholeMs = minutes * 60_000;
  await sleep((wholeMs * 2) / 3);
  await killing.stop().catch(note);
  await aiming.stop().catch(note);
  await toggling.stop().catch(note);
  await sleep(wholeMs / 3);
  const memory = await sampling.stop();
  await load.stop().catch(note);
  await waitForAll(load).catch(note);
  await waitUntil(async () => (await stack.depth()) === 0, emptyWithinMs, "all queues to be empty").catch(note);
  await scanning.stop();
  return {
    started: load.started,
    kills: killing.killed,
    aimedKills: aiming.killed,
    toggles: toggling.toggles,
    passes: scanning.passes,
    memory,
    faults,
  };
}

async function waitForAll(load: Load): Promise<void> {
  const giveUpAtMs = Date.now() + endedWithinMs;
  for (;;) {
    const living = await load.living();
    if (living.length === 0) return;
    if (Date.now() > giveUpAtMs) throw new Error(`I8: ${living.length} runs are stuck: ${living.join()}`);
    await sleep(500);
  }
}

/** What each run is, judged alone and all together. */
async function compare(stack: StagedStack, { started, memory, faults }: Soaked): Promise<readonly Ended[]> {
  const ledgerOf = ledgersOf(stack.provider);
  const all: Ended[] = [];
  for (const ordered of started) {
    try {
      const ended = await readEnded(stack, ordered.runId, ledgerOf(ordered.runId));
      all.push(ended);
      faults.push(...verdictOn(stack, ended), ...unexplained(ordered, ended));
    } catch (error) {
      faults.push(`I8: ${error instanceof Error ? error.message : error}`);
    }
  }
  const rejected = await stack.rejected();
  if (rejected.length > 0) faults.push(`I13: ${rejected.length} were rejected, first ${JSON.stringify(rejected[0])}`);
  const counted = all.reduce((sum, { ledger }) => sum + ledger.calls.length, 0);
  if (counted !== stack.provider.calls.length) faults.push("the ledger has calls of runs that nobody started");
  for (const { of, pid, firstThirdMiB, lastThirdMiB, isFlat } of memory) {
    if (!isFlat)
      faults.push(`memory: ${of} ${pid} grew from ${firstThirdMiB.toFixed(0)} to ${lastThirdMiB.toFixed(0)} MiB`);
  }
  return all;
}

const tally = (names: readonly string[]): Record<string, number> => {
  const counts: Record<string, number> = {};
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
};

function reportOf(soaked: Soaked, all: readonly Ended[], counters: Readonly<Record<string, number>>) {
  const nodes = all.flatMap((ended) => ended.nodes);
  const calls = all.flatMap(({ ledger }) => ledger.calls).length;
  const effects = all.flatMap(({ ledger }) => [...ledger.effects.values()]).reduce((sum, made) => sum + made, 0);
  const times = all
    .flatMap(({ run }) => (run.ended_at_ms === undefined ? [] : [run.ended_at_ms - run.created_at_ms]))
    .sort((a, b) => a - b);
  const quantile = (share: number): number => times[Math.floor(times.length * share)] ?? 0;
  return {
    runs: { started: soaked.started.length, ...tally(all.map(({ run }) => run.status)) },
    nodes: { all: nodes.length, ...tally(nodes.map((node) => node.status)) },
    ledger: { calls, effects },
    claims: nodes.reduce((sum, { epoch }) => sum + epoch, 0),
    /** Second and later claims of nodes whose tool asks for no retry. */
    takeOvers: nodes
      .filter(({ tool }) => tool !== "retrying")
      .reduce((sum, node) => sum + Math.max(0, node.epoch - 1), 0),
    kills: soaked.kills,
    aimedKills: soaked.aimedKills,
    toggles: soaked.toggles,
    scannerPasses: soaked.passes,
    messages: { byRelay: counters.MessagesSent ?? 0, byScanner: counters.MessagesSentByScanner ?? 0 },
    counters,
    runTimeMs: { p50: quantile(0.5), p95: quantile(0.95), most: times.at(-1) ?? 0 },
    memory: soaked.memory,
    faults: soaked.faults,
  };
}

function print(report: ReturnType<typeof reportOf>): void {
  for (const [name, value] of Object.entries(report)) {
    if (name === "faults" || name === "memory") continue;
    console.log(`${name.padEnd(14)} ${JSON.stringify(value)}`);
  }
  for (const { of, pid, livedS, firstThirdMiB, lastThirdMiB } of report.memory)
    console.log(
      `memory         ${of} ${pid}: ${firstThirdMiB.toFixed(0)} -> ${lastThirdMiB.toFixed(0)} MiB in ${livedS} s`,
    );
  for (const fault of report.faults) console.log(`VIOLATION      ${fault}`);
  console.log(
    report.faults.length === 0 ? "nothing lost, nothing twice, nothing stuck" : `${report.faults.length} violations`,
  );
}

async function main(): Promise<void> {
  const minutes = Number(values.minutes);
  const seed = Number(values.seed);
  if (!(minutes > 0) || !Number.isSafeInteger(seed))
    throw new Error("--minutes must be above 0, --seed a whole number");
  const folder = await mkdtemp(join(tmpdir(), "leasehold-soak-"));
  const log = join(folder, "aws.log");
  const stage = await openStage([{ name: "soak", proxied: [] }], log);
  let isRight = false;
  try {
    const [stack] = stage.stacks;
    if (stack === undefined) throw new Error("the stage has no stack");
    const soaked = await soak(stack, minutes, seed);
    const all = await compare(stack, soaked);
    const report = reportOf(soaked, all, await countersIn(log));
    print(report);
    if (values.json !== undefined) await writeFile(values.json, `${JSON.stringify(report, undefined, 2)}\n`);
    isRight = report.faults.length === 0 && all.length > 0;
  } finally {
    await stage.stop();
    if (isRight) await rm(folder, { recursive: true, force: true });
    else console.log(`what the functions printed is in ${log}`);
  }
  if (!isRight) process.exitCode = 1;
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.stack : error);
  process.exitCode = 1;
});
