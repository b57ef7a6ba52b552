/** How much memory each process of a function holds over its life. */
import { setTimeout as sleep } from "node:timers/promises";
import { processesOf } from "../chaos/killing.ts";
import type { StagedStack } from "../chaos/stage.ts";
import type { FunctionName } from "../support/e2e-stacks.ts";

export type MemoryReport = {
  readonly of: FunctionName;
  readonly pid: number;
  readonly livedS: number;
  readonly firstThirdMiB: number;
  readonly lastThirdMiB: number;
  readonly isFlat: boolean;
};

const everyMs = 2_000;
/** A process that has just come up grows while its code is loaded and compiled. */
const warmUpMs = 30_000;
const judgedFromMs = 30_000;
/** What a garbage collector may leave to its next turn. */
const toleratedRatio = 1.2;
const toleratedMiB = 16;

type Sample = { readonly atMs: number; readonly rssMiB: number };

const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[values.length >> 1] ?? 0;

export function startSampling(stack: StagedStack) {
  const seen = new Map<number, { of: FunctionName; samples: Sample[] }>();
  let isOver = false;
  const loop = async (): Promise<void> => {
    while (!isOver) {
      const atMs = Date.now();
      for (const { of, pid, rssKiB } of await processesOf(stack)) {
        const known = seen.get(pid) ?? { of, samples: [] };
        known.samples.push({ atMs, rssMiB: rssKiB / 1_024 });
        seen.set(pid, known);
      }
      await sleep(everyMs);
    }
  };
  const looped = loop();
  looped.catch(() => {});
  return {
    /** Of those that lived long enough. */
    stop: async (): Promise<readonly MemoryReport[]> => {
      isOver = true;
      await looped;
      return [...seen].flatMap(([pid, { of, samples }]) => reportOf(of, pid, samples));
    },
  };
}

function reportOf(of: FunctionName, pid: number, all: readonly Sample[]): readonly MemoryReport[] {
  const bornAtMs = all[0]?.atMs ?? 0;
  const samples = all.filter(({ atMs }) => atMs - bornAtMs >= warmUpMs);
  const livedMs = (all.at(-1)?.atMs ?? 0) - bornAtMs;
  if (livedMs - warmUpMs < judgedFromMs) return [];
  const third = Math.floor(samples.length / 3);
  const firstThirdMiB = median(samples.slice(0, third).map(({ rssMiB }) => rssMiB));
  const lastThirdMiB = median(samples.slice(-third).map(({ rssMiB }) => rssMiB));
  const isFlat = lastThirdMiB <= firstThirdMiB * toleratedRatio + toleratedMiB;
  return [{ of, pid, livedS: Math.round(livedMs / 1_000), firstThirdMiB, lastThirdMiB, isFlat }];
}
