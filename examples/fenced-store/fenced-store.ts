/**
 * A store that remembers with each key the highest fencing token that wrote it, and refuses an older one: whoever was declared
 * dead and is not can then change nothing here either. docs/testing.md has the same as one write of DynamoDB.
 */

export type Stored = { readonly value: number; readonly token: number };

export type FencedStore = {
  /**
   * Writes, whatever was there before, unless a later attempt has written.
   * @throws StaleTokenError that names both tokens.
   */
  put(key: string, value: number, token: number): Promise<void>;
  get(key: string): Promise<Stored | undefined>;
};

/** The writer is no longer the owner. */
export class StaleTokenError extends Error {
  override readonly name = "StaleTokenError";
  readonly code = "stale_token";

  constructor(key: string, token: number, highest: number) {
    super(`${key} was written under fencing token ${highest}, and token ${token} is older`);
  }
}

/** In memory. The check and the write are one step: nothing is awaited between them. */
export function fencedStore(): FencedStore {
  const items = new Map<string, Stored>();
  return {
    put: async (key, value, token) => {
      const highest = items.get(key)?.token ?? 0;
      // The same token again is the same attempt again.
      if (token < highest) throw new StaleTokenError(key, token, highest);
      items.set(key, { value, token });
    },
    get: async (key) => items.get(key),
  };
}
