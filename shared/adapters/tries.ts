/**
 * The SDK repeats a call whose answer was lost or was a throttle (WorkingWithItems.html), and shows only the last error.
 * After a lost answer, a throttle of the repeat no longer proves that nothing was applied; so each try is looked at.
 */
import { failedTry } from "./failed-try.ts";

export type Tries = {
  /** A middleware for one command, to stand below the SDK's own retries. */
  watch<Args, Result>(next: (args: Args) => Promise<Result>): (args: Args) => Promise<Result>;
  /** Whether a try ended without anyone knowing whether it was applied. */
  lostOne(): boolean;
};

/**
 * Where the middleware stands: `low` in this step is below the retries, which are `high`. The document client lays a
 * command's stack over itself, so the name must be one that may be replaced.
 */
export const belowRetries = { step: "finalizeRequest", priority: "low", name: "tries", override: true } as const;

export function tries(): Tries {
  let lost = false;
  return {
    watch: (next) => async (args) => {
      try {
        return await next(args);
      } catch (error) {
        lost ||= failedTry(error) === "unknown";
        throw error;
      }
    },
    lostOne: () => lost,
  };
}
