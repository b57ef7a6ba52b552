/** How long something takes, as a person says it: the two largest units. */
const units: readonly (readonly [name: string, seconds: number])[] = [
  ["d", 86_400],
  ["h", 3_600],
  ["min", 60],
  ["s", 1],
];

/** Clocks of two machines may differ: what is below zero is 0 s. */
export function durationText(ms: number): string {
  let left = Math.max(0, Math.floor(ms / 1_000));
  const parts: string[] = [];
  for (const [name, seconds] of units) {
    const count = Math.floor(left / seconds);
    left -= count * seconds;
    if (count > 0) parts.push(`${count} ${name}`);
    else if (parts.length > 0) break;
    if (parts.length === 2) break;
  }
  return parts.join(" ") || "0 s";
}
