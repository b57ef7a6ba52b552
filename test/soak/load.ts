/** Starts runs one after another, so many at a time, and cancels those that are to be cancelled. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Seeded } from "../../testing/seeded.ts";
import type { StagedStack } from "../chaos/stage.ts";
import { randomRun, type SoakRun } from "./random-run.ts";

export type Load = {
  readonly started: readonly SoakRun[];
  /** Starts no more, and waits until the last cancellation is sent. */
  stop(): Promise<void>;
  /** Runs that have not been seen to end; starts not seen at all are among them. */
  living(): Promise<readonly string[]>;
};

const mostLiving = 10;
const pauseMs = 250;
/** Longest wait of a cancellation for the run to be there: with commands killed and throttled, some redeliveries. */
const thereWithinMs = 60_000;

export function startLoad(stack: StagedStack, random: Seeded): Load {
  const started: SoakRun[] = [];
  const living = new Set<string>();
  const cancellations: Promise<void>[] = [];
  let isOver = false;

  const look = async (): Promise<void> => {
    for (const runId of living) {
      const run = await stack.client.getRun(runId);
      if (run?.ended === true) living.delete(runId);
    }
  };
  const cancelLater = async ({ runId, cancelAfterMs = 0 }: SoakRun): Promise<void> => {
    const giveUpAtMs = Date.now() + thereWithinMs;
    while ((await stack.client.getRun(runId)) === undefined && Date.now() < giveUpAtMs) await sleep(pauseMs);
    await sleep(cancelAfterMs);
    await stack.client.cancelRun(runId, { reason: "the soak wants it so" });
  };
  const loop = async (): Promise<void> => {
    while (!isOver) {
      await look();
      if (living.size < mostLiving) {
        const run = randomRun(random);
        const { runId, nodes, deadlineMs } = run;
        await stack.client.startRun({ runId, nodes, ...(deadlineMs === undefined ? {} : { deadlineMs }) });
        started.push(run);
        living.add(runId);
        if (run.cancelAfterMs !== undefined) cancellations.push(cancelLater(run));
      }
      await sleep(pauseMs);
    }
  };
  const looped = loop();
  looped.catch(() => {});
  return {
    started,
    stop: async () => {
      isOver = true;
      await looped;
      await Promise.all(cancellations);
    },
    living: async () => {
      await look();
      return [...living];
    },
  };
}
