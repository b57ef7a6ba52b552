/** What an item becomes by a write, as DynamoDB would make it; every operand sees the item as it was before. */
import type { Item, Update, Value, Write } from "../write.ts";
import { sizeFault, writeError } from "./write-fault.ts";

/** Sets are copied, -0 becomes 0 as on its way through the SDK. */
const copyValue = (value: Value): Value =>
  typeof value === "object" ? new Set(value) : typeof value === "number" ? value + 0 : value;

export const copyItem = (item: Item): Item =>
  Object.fromEntries(Object.entries(item).map(([name, value]) => [name, copyValue(value)]));

function added(update: Update, attr: string, found: Value | undefined, by: number): number {
  if (found !== undefined && typeof found !== "number") throw writeError(update, `${attr} is no number to add to`);
  const sum = (found ?? 0) + by;
  if (!Number.isSafeInteger(sum))
    throw writeError(update, `${attr} would become ${sum}, which is no safe whole number`);
  return sum;
}

function without(update: Update, attr: string, found: Value, members: ReadonlySet<number>): ReadonlySet<number> {
  if (typeof found !== "object") throw writeError(update, `${attr} is no set to delete from`);
  return new Set([...found].filter((member) => !members.has(member)));
}

function updated(update: Update, old: Item): Item {
  const next = new Map(Object.entries(copyItem(old)));
  for (const [attr, value] of Object.entries(update.set ?? {})) next.set(attr, copyValue(value));
  for (const [attr, value] of Object.entries(update.setIfMissing ?? {}))
    if (!next.has(attr)) next.set(attr, copyValue(value));
  for (const attr of update.remove ?? []) next.delete(attr);
  for (const [attr, by] of Object.entries(update.add ?? {})) next.set(attr, added(update, attr, next.get(attr), by));
  for (const [attr, members] of Object.entries(update.deleteFromSet ?? {})) {
    const found = next.get(attr);
    if (found === undefined) continue;
    const rest = without(update, attr, found, members);
    // A set cannot be empty (Constraints.html): with its last member the attribute is gone.
    if (rest.size === 0) next.delete(attr);
    else next.set(attr, rest);
  }
  return Object.fromEntries(next);
}

/**
 * The item after the write, whose conditions have held; shares nothing with `old` nor with the write.
 * @throws Error where DynamoDB would answer ValidationException.
 */
export function applyWrite(write: Write, old: Item | undefined): Item {
  switch (write.op) {
    case "put":
      return copyItem({ ...write.item, ...write.key });
    case "update": {
      if (old === undefined) throw writeError(write, "there is no item to update");
      const next = updated(write, old);
      const fault = sizeFault(next);
      if (fault !== undefined) throw writeError(write, fault);
      return next;
    }
    default:
      throw write satisfies never;
  }
}
