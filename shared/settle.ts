/** Sends a write until it has been answered: a conflict is waited out, a lost answer is asked for again under the same conditions (I10). */
import type { Busy, Unknown, World } from "./ports.ts";

const firstPauseMs = 25;
const longestPauseMs = 1_000;

/** It was never answered within the budget; whether the write was applied is not known. */
export const UNSETTLED = "LEASEHOLD_UNSETTLED";
export class UnsettledError extends Error {
  override readonly name = "UnsettledError";
  readonly code = UNSETTLED;
}

/**
 * @param budgetMs how long to go on, by the monotonic clock; the first try is always made.
 * @returns `applied` or `refused`. A refusal may be one's own write that was applied before: look for one's own mark.
 * @throws UnsettledError when the budget is over.
 */
export async function settle<Answer extends { readonly is: string }>(
  world: Pick<World, "clock" | "chance" | "count">,
  budgetMs: number,
  send: () => Promise<Answer | Busy | Unknown>,
): Promise<Exclude<Answer, Busy | Unknown>> {
  const endsAtMs = world.clock.monotonicMs() + budgetMs;
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
    const answer = await send();
    if (answer.is !== "busy" && answer.is !== "unknown") return answer as Exclude<Answer, Busy | Unknown>;
    world.count(answer.is === "busy" ? "WriteBusy" : "WriteUnknown");
    const waitMs = Math.ceil(pauseMs * (0.5 + world.chance.fraction() / 2));
    if (world.clock.monotonicMs() + waitMs >= endsAtMs) {
      throw new UnsettledError(`no answer within ${budgetMs} ms: ${"why" in answer ? String(answer.why) : answer.is}`);
    }
    await world.clock.sleep(waitMs);
  }
}
