import { isLiving } from "../shared/model.ts";
import type { Clock } from "../shared/ports.ts";
import { noSuchRun } from "./errors.ts";
import { poll, type WaitOptions } from "./poll.ts";
import { type ReadableTable, readRunItem, withNodes } from "./read-run.ts";
import type { RunView } from "./view.ts";

export type WaitForRunOptions = WaitOptions & {
  /** Called with the first view and with each one that differs from the one before. Each look then reads all nodes. */
  readonly onChange?: (now: RunView, before: RunView | undefined) => void;
};

const LONGEST_PAUSE_MS = 2_000;

/**
 * Resolves with the run as it ended, whatever its end.
 * @throws ClientError `no_such_run` at once where there is none: await a start's `accepted()` first; `timed_out`.
 */
export async function waitForRun(
  table: ReadableTable,
  clock: Clock,
  runId: string,
  options: WaitForRunOptions,
): Promise<RunView> {
  const { onChange, ...wait } = options;
  let before: RunView | undefined;
  const look = async (): Promise<RunView | undefined> => {
    const run = await readRunItem(table, runId, clock.nowMs());
    if (run === undefined) throw noSuchRun(runId);
    // Nobody sees how far the nodes are, so they are read only once, at the end.
    if (onChange === undefined && isLiving(run.status)) return undefined;
    const view = await withNodes(table, run);
    if (JSON.stringify(view) !== JSON.stringify(before)) {
      onChange?.(view, before);
      before = view;
    }
    return view.ended ? view : undefined;
  };
  return poll(
    clock,
    { ...wait, longestPauseMs: LONGEST_PAUSE_MS, waitsFor: `run ${JSON.stringify(runId)} did not end` },
    look,
  );
}
