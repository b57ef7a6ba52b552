/** The same run again and again, killed at another place each time. */
import type { AnyTool } from "../shared/tool.ts";
import { toldCall } from "./outcome.ts";
import { type CrashPoint, type Outcome, type SimulateOptions, simulate } from "./simulate.ts";

export type CrashAtEveryStepOptions = Omit<SimulateOptions, "tools" | "crash"> & {
  /** Called once for each run, so that the fakes behind the tools start anew. */
  readonly tools: () => readonly AnyTool[];
  /** Tries this place alone: how a failure is replayed. @default all places */
  readonly only?: CrashPoint;
};

/**
 * First an undisturbed run, then one run for each call that it made, killed before the call and one killed after it: every read
 * and write of every function, every message sent, every call of a tool's code and every `callOutside` in it.
 * @param check is called with each outcome, and throws where it is not as it should be.
 * @returns how many places were tried.
 * @throws Error that names the place and how to replay it; its cause is what `check` or the run threw.
 */
export async function crashAtEveryStep(
  options: CrashAtEveryStepOptions,
  check: (outcome: Outcome) => void | Promise<void>,
): Promise<number> {
  const { tools, only, ...rest } = options;
  const run = (crash?: CrashPoint): Promise<Outcome> =>
    simulate({ ...rest, tools: tools(), ...(crash === undefined ? {} : { crash }) });

  const undisturbed = await told("nothing was killed", "", async () => {
    const outcome = await run();
    if (only === undefined) await check(outcome);
    return outcome;
  });
  const { calls } = undisturbed;
  const all = calls.flatMap(({ index }): CrashPoint[] => [
    { call: index, when: "before" },
    { call: index, when: "after" },
  ]);
  const points = only === undefined ? all : [only];
  for (const crash of points) {
    const call = calls[crash.call];
    if (call === undefined)
      throw new Error(
        `only.call must be below ${calls.length}, the number of calls of an undisturbed run, got ${crash.call}`,
      );
    const place = `${call.function} was killed ${crash.when} ${toldCall(call)}`;
    const replay = `\nreplay it alone: only: { call: ${crash.call}, when: "${crash.when}" }`;
    await told(place, replay, async () => {
      const outcome = await run(crash);
      const struck = outcome.crashed;
      if (struck === undefined || toldCall(struck) !== toldCall(call))
        throw new Error(
          `call ${crash.call} was another one this time (${struck && toldCall(struck)}): are tools and fakes the same for each run?`,
        );
      await check(outcome);
    });
  }
  return points.length;
}

async function told<Result>(place: string, replay: string, run: () => Promise<Result>): Promise<Result> {
  try {
    return await run();
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`${place}: ${message}${replay}`, { cause });
  }
}
