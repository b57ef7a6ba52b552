/** Runs schedules, keeps count, and tells a failing one so that it can be found again. */
import { type Coverage, cover } from "./coverage.ts";
import type { Tried } from "./explore.ts";
import { describeCase, shrink } from "./shrink.ts";

/** @throws Error that tells the seed, the violations and the smallest schedule that still shows one. */
export async function judge(tried: Tried, coverage: Coverage): Promise<void> {
  cover(coverage, tried);
  if (tried.verdict.violations.length === 0) return;
  const smallest = await shrink(tried);
  const violations = tried.verdict.violations.slice(0, 5).map(({ invariant, what }) => `  ${invariant}: ${what}`);
  throw new Error(
    [
      `${tried.name} breaks an invariant:`,
      ...violations,
      `  smallest: ${describeCase(smallest)}`,
      `  replay: npm run simulate -- --from ${tried.tried.seed} --seeds 1`,
    ].join("\n"),
  );
}
