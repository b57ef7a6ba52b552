/** Kills processes of a stack's functions at random, and counts whom. */
import { execFile } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import type { Seeded } from "../../testing/seeded.ts";
import type { FunctionName } from "../support/e2e-stacks.ts";
import { kill } from "../support/processes.ts";
import type { StagedStack } from "./stage.ts";

const run = promisify(execFile);

export type FunctionProcess = { readonly of: FunctionName; readonly pid: number; readonly rssKiB: number };

const allFunctions: readonly FunctionName[] = ["commands", "relay", "worker", "scanner"];

/** Each environment that a function has now. The local AWS names the folder that a process runs in after its function. */
export async function processesOf(stack: StagedStack): Promise<readonly FunctionProcess[]> {
  const { stdout } = await run("ps", ["-axww", "-o", "pid=,rss=,command="], { maxBuffer: 16 * 1_024 * 1_024 });
  const named = allFunctions.map((of) => ({ of, mark: `ministack-lambda-${stack.functionName(of)}-` }));
  return stdout.split("\n").flatMap((line) => {
    const [, pid, rss, command = ""] = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? [];
    const found = named.find(({ mark }) => command.includes(mark) && command.includes("_worker.js"));
    return found === undefined ? [] : [{ of: found.of, pid: Number(pid), rssKiB: Number(rss) }];
  });
}

export type Killed = Record<FunctionName, number>;

export type Killing = {
  readonly killed: Readonly<Killed>;
  stop(): Promise<void>;
};

export type KillPlan = {
  /** Functions, each as often as it is to be chosen. */
  readonly of: readonly FunctionName[];
  /** On average. */
  readonly everyMs: number;
  readonly random: Seeded;
  /** @default no end */
  readonly atMost?: number;
};

export function startKilling(stack: StagedStack, plan: KillPlan): Killing {
  const { of, everyMs, random, atMost = Number.POSITIVE_INFINITY } = plan;
  const killed: Killed = { commands: 0, relay: 0, worker: 0, scanner: 0 };
  const ending = new AbortController();
  const loop = async (): Promise<void> => {
    for (let kills = 0; kills < atMost && !ending.signal.aborted; ) {
      await sleep(everyMs * (0.5 + random.fraction()), undefined, { signal: ending.signal }).catch(() => {});
      if (ending.signal.aborted) return;
      const chosen = random.pick(of);
      const processes = (await processesOf(stack)).filter((process) => process.of === chosen);
      if (processes.length === 0) continue;
      await kill(random.pick(processes).pid);
      killed[chosen] += 1;
      kills += 1;
    }
  };
  const looped = loop();
  // Whoever stops it hears of its failure; until then it must not end the program.
  looped.catch(() => {});
  return {
    killed,
    stop: async () => {
      ending.abort();
      await looped;
    },
  };
}

/**
 * Kills in the midst of work, where a random moment mostly finds a process idle: now and then, when a provider's effect has
 * been made, its caller dies before it hears of it, or shortly after that the relay, which then has a commit to relay.
 */
export function startAiming(stack: StagedStack, { random, chance }: { random: Seeded; chance: number }): Killing {
  const killed: Killed = { commands: 0, relay: 0, worker: 0, scanner: 0 };
  const underway = new Set<Promise<void>>();
  const killRelay = async (): Promise<void> => {
    await sleep(random.below(longestToRelayMs));
    const relay = (await processesOf(stack)).find((process) => process.of === "relay");
    if (relay === undefined) return;
    await kill(relay.pid);
    killed.relay += 1;
  };
  const stopListening = stack.provider.onActed(async (call) => {
    if (!random.chance(chance)) return;
    if (random.chance(0.5)) {
      const kills = killRelay().catch(() => {});
      underway.add(kills);
      return;
    }
    const pid = await call.pid();
    if (pid === undefined) return;
    await kill(pid);
    killed.worker += 1;
  });
  return {
    killed,
    stop: async () => {
      stopListening();
      await Promise.all(underway);
    },
  };
}

const longestToRelayMs = 80;
