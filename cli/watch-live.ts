/** A watch on a terminal: one picture, drawn anew at each change, and each second since times go on. */
import type { RunView, WaitForRunOptions } from "../client/index.ts";
import { paintFor } from "./line.ts";
import { livePicture } from "./live-picture.ts";
import { assumedColumns, assumedRows, repainter } from "./repaint.ts";
import { type SeenSince, seenSince } from "./seen-since.ts";
import { type CliWorld, nowOf } from "./world.ts";

const EACH_SECOND_MS = 1_000;

/** Whether the lines of standard output can be drawn over. */
export const canRepaint = ({ stdout, environment }: CliWorld): boolean =>
  stdout.isTTY === true && environment.TERM !== "dumb";

/** Resolves with the run as it ended; its last picture stays. @throws what waiting throws. */
export async function watchLive(runId: string, options: WaitForRunOptions, world: CliWorld): Promise<RunView> {
  const repaint = repainter(world.stdout, paintFor(world.stdout, world.environment));
  let last: { readonly run: RunView; readonly seen: SeenSince } | undefined;
  const draw = (): void => {
    if (last === undefined) return;
    const { columns = assumedColumns, rows = assumedRows } = world.stdout;
    repaint(livePicture({ ...last, nowMs: nowOf(world), columns, rows }));
  };
  const ticking = setInterval(draw, EACH_SECOND_MS);
  try {
    return await world.client.waitForRun(runId, {
      ...options,
      onChange: (run) => {
        last = { run, seen: seenSince(last?.seen, run, nowOf(world)) };
        draw();
      },
    });
  } finally {
    clearInterval(ticking);
  }
}
