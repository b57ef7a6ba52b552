/** What outlives a reload: the table and the objects of this session. */
import { type MemoryBlobs, memoryBlobs } from "../../shared/adapters/memory-blobs.ts";
import { type MemoryTable, memoryTable } from "../../shared/adapters/memory-table.ts";
import { runPartition } from "../../shared/keys.ts";
import type { Item } from "../../shared/write.ts";

export type Memory = {
  readonly table: MemoryTable;
  readonly blobs: MemoryBlobs;
  /** Told of each item as a write has left it. @returns ends that. */
  listen(listener: (item: Item) => void): () => void;
  /** Takes a run away, so that no later look finds it alive. */
  forget(runId: string): void;
};

export function devMemory(): Memory {
  const listeners = new Set<(item: Item) => void>();
  const table = memoryTable({
    onApplied: (applied) => {
      for (const listener of listeners) listener(applied.new);
    },
  });
  return {
    table,
    blobs: memoryBlobs(),
    listen: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    forget: (runId) => {
      for (const { pk, sk } of table.items()) {
        if (pk === runPartition(runId)) table.remove({ pk, sk: String(sk) });
      }
    },
  };
}
