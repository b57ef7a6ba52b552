/** Switches the dispatch and the stream mapping off and on again, and invokes the scanner besides its rule. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Seeded } from "../../testing/seeded.ts";
import type { StagedStack } from "../chaos/stage.ts";

export type Toggling = {
  readonly toggles: Readonly<Record<"dispatch" | "stream", number>>;
  /** Leaves both on. */
  stop(): Promise<void>;
};

const onForMs = 8_000;
const offForMs = 4_000;

export function startToggling(stack: StagedStack, random: Seeded): Toggling {
  const toggles = { dispatch: 0, stream: 0 };
  const ending = new AbortController();
  const pause = (ms: number) => sleep(ms, undefined, { signal: ending.signal }).catch(() => {});
  const loop = async (): Promise<void> => {
    for (;;) {
      await pause(onForMs * (0.5 + random.fraction()));
      if (ending.signal.aborted) return;
      const which = random.pick(["dispatch", "stream"] as const);
      await stack.setMapping(which, false);
      toggles[which] += 1;
      await pause(offForMs * (0.5 + random.fraction()));
      await stack.setMapping(which, true);
    }
  };
  const looped = loop();
  looped.catch(() => {});
  return {
    toggles,
    stop: async () => {
      ending.abort();
      await looped;
    },
  };
}

export type Scanning = { readonly passes: { lived: number; died: number }; stop(): Promise<void> };

export function startScanning(stack: StagedStack, everyMs: number): Scanning {
  const passes = { lived: 0, died: 0 };
  let isOver = false;
  const loop = async (): Promise<void> => {
    while (!isOver) {
      const lived = await stack.scan().then(
        () => true,
        () => false,
      );
      passes[lived ? "lived" : "died"] += 1;
      await sleep(everyMs);
    }
  };
  const looped = loop();
  return {
    passes,
    stop: async () => {
      isOver = true;
      await looped;
    },
  };
}
