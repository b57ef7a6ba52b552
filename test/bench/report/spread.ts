/** Where the middle of measured numbers lies, and how far they spread. */

/** In the unit of what was measured. */
export type Spread = {
  readonly n: number;
  readonly min: number;
  readonly median: number;
  readonly p95: number;
  readonly max: number;
};

/** By the nearest rank, so that each is a number that was measured. @throws Error where there is none. */
export function spreadOf(measured: readonly number[]): Spread {
  const sorted = [...measured].sort((left, right) => left - right);
  const at = (share: number): number => {
    const found = sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)];
    if (found === undefined) throw new Error("nothing was measured");
    return found;
  };
  return { n: sorted.length, min: at(0), median: at(0.5), p95: at(0.95), max: at(1) };
}
