/** Makes a value at the first call and hands it to all: one that failed is not remembered, so the next call tries again. */
export function onceSucceeded<Value>(make: () => Promise<Value>): () => Promise<Value> {
  let made: Promise<Value> | undefined;
  return () => {
    made ??= make().catch((error: unknown) => {
      made = undefined;
      throw error;
    });
    return made;
  };
}
