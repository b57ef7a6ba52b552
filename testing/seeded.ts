/** Randomness that replays exactly: one seed, one schedule. */

export type Seeded = {
  /** From 0 inclusive to 1 exclusive. */
  fraction(): number;
  /** A whole number from 0 to below `count`. */
  below(count: number): number;
  pick<T>(choices: readonly T[]): T;
  chance(probability: number): boolean;
};

/** mulberry32: small, fast, and good enough to choose schedules. */
export function seeded(seed: number): Seeded {
  let state = seed >>> 0;
  const fraction = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  const below = (count: number): number => Math.floor(fraction() * count);
  return {
    fraction,
    below,
    pick: (choices) => {
      const picked = choices[below(choices.length)];
      if (picked === undefined) throw new Error("nothing to pick from");
      return picked;
    },
    chance: (probability) => fraction() < probability,
  };
}
