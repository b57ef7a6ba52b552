/** How the provider has been told to misbehave, and on which call. */

export type Behaviour = {
  /** Waits so long before it acts. */
  readonly slowMs?: number;
  /** Answers with this status, `before` acting (no effect) or `after` it (an effect that the caller is not told of). */
  readonly fail?: { readonly status: number; readonly when: "before" | "after"; readonly retryAfter?: string };
  /** Acts, then does not answer until `release()`. */
  readonly hang?: boolean;
};

export type Behaviours = {
  /** `nth` counts the calls of a path from 1; without it the behaviour is that of all its calls. The last word counts. */
  tell(path: string, behaviour: Behaviour, nth?: number): void;
  of(path: string, nth: number): Behaviour;
};

export function behaviours(): Behaviours {
  const told = new Map<string, Behaviour>();
  return {
    tell: (path, behaviour, nth) => void told.set(JSON.stringify([path, nth ?? "all"]), behaviour),
    of: (path, nth) =>
      told.get(JSON.stringify([path, nth])) ?? told.get(JSON.stringify([path, "all"])) ?? ({} satisfies Behaviour),
  };
}
