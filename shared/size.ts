/** What an item weighs, by the rules of DynamoDB (CapacityUnitCalculations.html): names and values in UTF-8 bytes. */
import { fixed } from "./limits.ts";
import type { Item, Value } from "./write.ts";

const numberBytes = (value: number): number => Math.ceil(String(Math.abs(value)).length / 2) + 1 + (value < 0 ? 1 : 0);

function valueBytes(value: Value): number {
  if (typeof value === "string") return Buffer.byteLength(value, "utf8");
  if (typeof value === "number") return numberBytes(value);
  if (typeof value === "boolean") return 1;
  let bytes = 3;
  for (const member of value) bytes += numberBytes(member) + 1;
  return bytes;
}

/** Upper estimate of an item's size in bytes; undefined attributes weigh nothing. */
export function itemBytes(item: { readonly [attribute: string]: Value | undefined }): number {
  let bytes = 0;
  for (const [name, value] of Object.entries(item)) {
    if (value !== undefined) bytes += Buffer.byteLength(name, "utf8") + valueBytes(value);
  }
  return bytes;
}

/** Whether a text may stand in the item itself, so that each write to it still costs one unit. */
export const fitsInside = (item: Item, name: string, text: string, reserve: number): boolean =>
  itemBytes(item) + Buffer.byteLength(name) + Buffer.byteLength(text) + reserve <= fixed.writeUnitBytes;
