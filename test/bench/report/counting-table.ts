/** A table in memory that charges each call as DynamoDB would. */
import { type Applied, memoryTable } from "../../../shared/adapters/memory-table.ts";
import type { Table } from "../../../shared/ports.ts";
import type { Item, Write } from "../../../shared/write.ts";
import type { Tally } from "./tally.ts";
import { bytesOf, indexReadUnits, indexUnits, strongReadUnits, transactUnits, writeUnits } from "./units.ts";

export type CountingTable = {
  /** The table as one function sees it; what it asks for is added to the tally. */
  for(tally: Tally): Table;
  /** Outbox entries since the last look, as the stream would bring them. */
  newEntries(): readonly Item[];
};

/** One page of a query holds 1 MB, and each is a call (read-write-operations.html). */
const pageBytes = 1_048_576;

export function countingTable(): CountingTable {
  const applied: Applied[] = [];
  const entries: Item[] = [];
  const table = memoryTable({
    onApplied: (one) => {
      applied.push(one);
      if (one.new.kind === "outbox") entries.push(one.new);
    },
  });
  /** The table decides a write before it gives back its promise, so what has been applied is this call's. */
  const taken = (): readonly Applied[] => applied.splice(0);

  return {
    newEntries: () => entries.splice(0),
    for: (tally) => ({
      get: async (key) => {
        const item = await table.get(key);
        tally.GetItem += 1;
        tally.readUnits += strongReadUnits(bytesOf(item));
        return item;
      },
      query: async (pk, skPrefix) => {
        const items = await table.query(pk, skPrefix);
        const bytes = items.reduce((sum, item) => sum + bytesOf(item), 0);
        tally.Query += Math.max(1, Math.ceil(bytes / pageBytes));
        tally.readUnits += strongReadUnits(bytes);
        return items;
      },
      dueRuns: async (shard, dueAtMs, limit) => {
        const due = await table.dueRuns(shard, dueAtMs, limit);
        tally.Query += 1;
        // An entry is four short keys, and a page of the scanner's has too few of them to fill a second unit.
        tally.readUnits += indexReadUnits(0);
        return due;
      },
      write: async (write) => {
        const answering = table.write(write);
        const [done] = taken();
        const answer = await answering;
        tally[write.op === "put" ? "PutItem" : "UpdateItem"] += 1;
        tally.writeUnits += done === undefined ? 0 : writeUnits(done.old, done.new) + indexUnits(done.old, done.new);
        if (answer.is === "refused") tally.writeUnits += writeUnits(answer.old, wouldPut(write));
        return answer;
      },
      transact: async (writes) => {
        const answering = table.transact(writes);
        const done = taken();
        const answer = await answering;
        tally.TransactWriteItems += 1;
        tally.transactActions += writes.length;
        for (const { old, new: item } of done) tally.writeUnits += transactUnits(old, item) + indexUnits(old, item);
        // A cancelled transaction consumes what a successful one does (transaction-apis.html).
        if (answer.is === "refused")
          for (const [place, write] of writes.entries())
            tally.writeUnits += transactUnits(answer.refusals[place]?.old, wouldPut(write));
        return answer;
      },
    }),
  };
}

const wouldPut = (write: Write): Item | undefined => (write.op === "put" ? { ...write.item, ...write.key } : undefined);
