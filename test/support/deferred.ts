/** A promise with its ends in hand. `Promise.withResolvers` does the same from Node 22 on. */
export type Deferred<T> = {
  readonly promise: Promise<T>;
  resolve(value: T): void;
  /** A rejection that nobody awaits is dropped: what failed to happen shows in the test anyway. */
  reject(error: unknown): void;
};

export function deferred<T>(): Deferred<T> {
  let ends: Pick<Deferred<T>, "resolve" | "reject"> = { resolve: () => {}, reject: () => {} };
  const promise = new Promise<T>((resolve, reject) => {
    ends = { resolve, reject };
  });
  promise.catch(() => {});
  return { promise, ...ends };
}
