/** Objects in memory: the same answers as S3's for the same calls, for simulations and for fast tests. */
import type { Blobs } from "../ports.ts";

export type MemoryBlobs = Blobs & {
  readonly keys: () => readonly string[];
  /** Takes an object out, as a lifecycle rule or a person would. */
  remove(key: string): void;
};

export function memoryBlobs(): MemoryBlobs {
  const objects = new Map<string, string>();
  return {
    put: async (key, text) => {
      if (objects.has(key)) return { is: "there" };
      objects.set(key, text);
      return { is: "stored" };
    },
    get: async (key) => objects.get(key),
    keys: () => [...objects.keys()],
    remove: (key) => {
      objects.delete(key);
    },
  };
}
