/** Which files changed. By looking again and again: that works for every editor, and for files that are not there yet. */
import { stat } from "node:fs/promises";
import { relative } from "node:path";
import { systemClock } from "../../shared/adapters/clock.ts";

export type Changes = {
  /**
   * Adds files to look at, absolute paths.
   * @param sinceMs what was written after this time counts as changed: it may have been read before.
   */
  watch(files: readonly string[], sinceMs: number): Promise<void>;
  /** Resolves once some have changed and none goes on changing, with their paths as a person knows them. */
  next(): Promise<readonly string[]>;
};

const lookEveryMs = 150;
const changedSince = "changed since it was read";

/** @param signal ends the looking; `next` resolves with nothing then. */
export function changesOf(signal: AbortSignal): Changes {
  const seen = new Map<string, string>();

  const look = async (): Promise<readonly string[]> => {
    const looks = [...seen].map(async ([file, before]) => {
      const { mark } = await lookAt(file);
      return mark === before ? [] : [[file, mark] as const];
    });
    const changed = (await Promise.all(looks)).flat();
    for (const [file, mark] of changed) seen.set(file, mark);
    return changed.map(([file]) => file);
  };

  return {
    watch: async (files, sinceMs) => {
      for (const file of files) {
        if (seen.has(file)) continue;
        const { mark, writtenAtMs } = await lookAt(file);
        seen.set(file, writtenAtMs > sinceMs ? changedSince : mark);
      }
    },
    next: async () => {
      const changed = new Set<string>();
      for (;;) {
        await systemClock.sleep(lookEveryMs, signal);
        if (signal.aborted) return [];
        const now = await look();
        if (now.length === 0 && changed.size > 0) return [...changed].map((file) => relative(process.cwd(), file));
        for (const file of now) changed.add(file);
      }
    },
  };
}

async function lookAt(file: string): Promise<{ readonly mark: string; readonly writtenAtMs: number }> {
  const found = await stat(file).catch(() => undefined);
  if (found === undefined) return { mark: "not there", writtenAtMs: 0 };
  return { mark: [found.ino, found.size, found.mtimeMs].join(" "), writtenAtMs: found.mtimeMs };
}
