/** What DynamoDB charges for a call, in request units. Pure: the rules stand in read-write-operations.html and transaction-apis.html. */
import { itemBytes } from "../../../shared/size.ts";
import type { Item } from "../../../shared/write.ts";

const writeUnitBytes = 1_024;
const readUnitBytes = 4_096;

const started = (bytes: number, unitBytes: number): number => Math.max(1, Math.ceil(bytes / unitBytes));

export const bytesOf = (item: Item | undefined): number => (item === undefined ? 0 : itemBytes(item));

/** An update is charged for the larger of the item before and after; a refused write for the item that refused it. */
export const writeUnits = (before: Item | undefined, after: Item | undefined): number =>
  started(Math.max(bytesOf(before), bytesOf(after)), writeUnitBytes);

/** Each item of a transaction is written twice, to prepare and to commit. */
export const transactUnits = (before: Item | undefined, after: Item | undefined): number =>
  2 * writeUnits(before, after);

/** Strongly consistent; a read of nothing costs the least that a read may cost. */
export const strongReadUnits = (bytes: number): number => started(bytes, readUnitBytes);

/** Of an index only eventually consistent reads are to be had, at half the price (GSI.html). */
export const indexReadUnits = (bytes: number): number => started(bytes, readUnitBytes) / 2;

/**
 * The sparse index holds keys only (GSI.html): an entry that comes or goes costs one write, one that moves two, one that stays
 * none. Indexes follow a transaction asynchronously, so their writes are not doubled.
 */
export function indexUnits(before: Item | undefined, after: Item | undefined): number {
  const [old, new_] = [entryOf(before), entryOf(after)];
  if (old === undefined && new_ === undefined) return 0;
  if (old === undefined || new_ === undefined) return 1;
  return old === new_ ? 0 : 2;
}

const entryOf = (item: Item | undefined): string | undefined =>
  item?.scan_shard === undefined || item.scan_at_ms === undefined
    ? undefined
    : JSON.stringify([item.scan_shard, item.scan_at_ms]);
