/** Tells one thing that has happened, and when. */
export type Tell = (what: string) => void;

/** Each line begins with the seconds since the narrator was made. */
export function narrator(print: (line: string) => void): Tell {
  const startedAtMs = performance.now();
  return (what) => {
    const seconds = ((performance.now() - startedAtMs) / 1_000).toFixed(1);
    print(`${seconds.padStart(5)} s  ${what}`);
  };
}
