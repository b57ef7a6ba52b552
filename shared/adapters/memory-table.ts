/** The table in memory: the same answers as DynamoDB's for the same writes, for simulations and for fast tests. */
import type { Refused, Table } from "../ports.ts";
import type { Item, Key, Write } from "../write.ts";
import { applyWrite, copyItem } from "./apply-write.ts";
import { holdAll } from "./condition.ts";
import { compareUtf8 } from "./utf8-order.ts";
import { checkTransaction, checkWrite } from "./write-fault.ts";

/** One write that was applied, as a stream would show it. A stream leaves out a write that changed nothing (Streams.html). */
export type Applied = {
  readonly write: Write;
  readonly old: Item | undefined;
  readonly new: Item;
};

export type MemoryTable = Table & {
  /** Copies of all items, in no order that means anything. */
  items(): Iterable<Item>;
  /** Takes an item out, as its time to live or a person would. */
  remove(key: Key): void;
};

export type MemoryTableOptions = {
  /** Items to begin with, keys included. */
  readonly items?: Iterable<Item & Key>;
  /** Told of each applied write, those of one transaction after each other, before the writer has its answer. */
  readonly onApplied?: (applied: Applied) => void;
};

const textOf = (item: Item, attr: "pk" | "sk"): string => String(item[attr]);

export function memoryTable(options: MemoryTableOptions = {}): MemoryTable {
  const partitions = new Map<string, Map<string, Item>>();

  const find = (key: Key): Item | undefined => partitions.get(key.pk)?.get(key.sk);
  const keep = (key: Key, item: Item): void => {
    const partition = partitions.get(key.pk) ?? new Map<string, Item>();
    partitions.set(key.pk, partition.set(key.sk, item));
  };
  const all = (): Item[] => [...partitions.values()].flatMap((partition) => [...partition.values()]);

  for (const item of options.items ?? []) keep(item, copyItem(item));

  /** The refusal, or null where the write has no objection. */
  const objection = (write: Write): Refused | null => {
    const old = find(write.key);
    const met = (write.op === "put" || old !== undefined) && holdAll(write.conditions, old);
    return met ? null : { is: "refused", old: old && copyItem(old) };
  };

  /** All or none: every new item is made before the first is kept. */
  const apply = (writes: readonly Write[]): readonly Item[] => {
    const applied = writes.map((write): Applied => {
      const old = find(write.key);
      return { write, old, new: applyWrite(write, old) };
    });
    for (const one of applied) keep(one.write.key, one.new);
    for (const one of applied)
      options.onApplied?.({ write: one.write, old: one.old && copyItem(one.old), new: copyItem(one.new) });
    return applied.map((one) => one.new);
  };

  return {
    get: async (key) => {
      const item = find(key);
      return item && copyItem(item);
    },
    query: async (pk, skPrefix) =>
      [...(partitions.get(pk)?.values() ?? [])]
        .filter((item) => textOf(item, "sk").startsWith(skPrefix))
        .sort((left, right) => compareUtf8(textOf(left, "sk"), textOf(right, "sk")))
        .map(copyItem),
    dueRuns: async (shard, dueAtMs, limit) =>
      all()
        .flatMap((item) =>
          item.scan_shard === shard && typeof item.scan_at_ms === "number" && item.scan_at_ms <= dueAtMs
            ? [{ pk: textOf(item, "pk"), atMs: item.scan_at_ms }]
            : [],
        )
        .sort((left, right) => left.atMs - right.atMs || compareUtf8(left.pk, right.pk))
        .slice(0, limit)
        .map((run) => run.pk),
    write: async (write) => {
      checkWrite(write);
      const refused = objection(write);
      if (refused !== null) return refused;
      const [item] = apply([write]);
      if (item === undefined) throw new Error(`write ${write.name} left no item`);
      return { is: "applied", item: copyItem(item) };
    },
    transact: async (writes) => {
      checkTransaction(writes);
      const refusals = writes.map(objection);
      if (refusals.some((refusal) => refusal !== null)) return { is: "refused", refusals };
      apply(writes);
      return { is: "applied" };
    },
    items: () => all().map(copyItem),
    remove: (key) => {
      partitions.get(key.pk)?.delete(key.sk);
    },
  };
}
