/**
 * What no table would take: a mistake of the program and never an answer of the state. Both tables ask here first, so
 * that a mistake shows in the memory table just as it would in DynamoDB, before anything is sent.
 */
import { fixed } from "../limits.ts";
import { itemBytes } from "../size.ts";
import type { Condition, Item, Key, Update, Value, Write } from "../write.ts";

/** Constraints.html: partition key 1 to 2,048 bytes, sort key 1 to 1,024. */
const maxPartitionKeyBytes = 2_048;
const maxSortKeyBytes = 1_024;
/** Constraints.html: 400 KB with the names; a KB is 1,024 bytes. */
const maxItemBytes = 400 * 1_024;
/** Constraints.html: operands of IN. */
const maxOperands = 100;

const keyAttributes: ReadonlySet<string> = new Set(["pk", "sk"]);

function keyPartFault(name: string, part: string, maxBytes: number): string | undefined {
  if (part === "") return `${name} is empty`;
  if (!part.isWellFormed()) return `${name} holds half of a surrogate pair`;
  const bytes = Buffer.byteLength(part, "utf8");
  return bytes > maxBytes ? `${name} has ${bytes} bytes, more than ${maxBytes}` : undefined;
}

const keyFault = (key: Key): string | undefined =>
  keyPartFault("pk", key.pk, maxPartitionKeyBytes) ?? keyPartFault("sk", key.sk, maxSortKeyBytes);

/** Whole numbers only: the store keeps 38 digits, but the SDK reads no more than 2^53 - 1 back as a number. */
const numberFault = (value: number): string | undefined =>
  Number.isSafeInteger(value) ? undefined : `is ${value}, which is no safe whole number`;

function setFault(set: ReadonlySet<number>): string | undefined {
  if (set.size === 0) return "is an empty set, which DynamoDB cannot hold (Constraints.html)";
  for (const member of set) {
    const fault = numberFault(member);
    if (fault !== undefined) return `has a member that ${fault}`;
  }
  return undefined;
}

function valueFault(value: Value): string | undefined {
  if (typeof value === "string") return value.isWellFormed() ? undefined : "holds half of a surrogate pair";
  if (typeof value === "number") return numberFault(value);
  if (typeof value === "boolean") return undefined;
  return value instanceof Set ? setFault(value) : "is no string, number, boolean or number set";
}

function itemFault(item: Item | undefined): string | undefined {
  for (const [name, value] of Object.entries(item ?? {})) {
    if (keyAttributes.has(name)) return `${name} belongs to the key`;
    const fault = valueFault(value);
    if (fault !== undefined) return `${name} ${fault}`;
  }
  return undefined;
}

function conditionFault(condition: Condition): string | undefined {
  if ("anyOf" in condition) {
    if (condition.anyOf.length === 0) return "anyOf has no alternative, so it can never hold";
    if (condition.anyOf.some((all) => all.length === 0)) return "anyOf has an empty alternative, so it always holds";
    return firstFault(condition.anyOf.flat(), conditionFault);
  }
  switch (condition.is) {
    case "exists":
    case "missing":
    case "belowAttribute":
      return undefined;
    case "oneOf": {
      const count = condition.values.length;
      if (count === 0 || count > maxOperands)
        return `oneOf of ${condition.attr} has ${count} values, not 1 to ${maxOperands}`;
      return firstFault(condition.values, (value) => about(condition.attr, valueFault(value)));
    }
    case "equal":
    case "notEqual":
    case "below":
    case "atMost":
    case "above":
    case "atLeast":
      return about(condition.attr, valueFault(condition.value));
    default:
      throw condition satisfies never;
  }
}

const about = (name: string, fault: string | undefined): string | undefined =>
  fault === undefined ? undefined : `the value compared with ${name} ${fault}`;

function firstFault<Part>(parts: Iterable<Part>, faultOf: (part: Part) => string | undefined): string | undefined {
  for (const part of parts) {
    const fault = faultOf(part);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

/** "Two document paths overlap": an attribute may stand in one section of an update only (Expressions.UpdateExpressions.html). */
function changesFault(update: Update): string | undefined {
  const names = [update.set, update.setIfMissing, update.add, update.deleteFromSet]
    .flatMap((section) => Object.keys(section ?? {}))
    .concat(update.remove ?? []);
  if (names.length === 0) return "it changes nothing";
  const key = names.find((name) => keyAttributes.has(name));
  if (key !== undefined) return `${key} belongs to the key`;
  const twice = names.find((name, place) => names.indexOf(name) !== place);
  if (twice !== undefined) return `${twice} is changed twice`;
  return (
    itemFault(update.set) ?? itemFault(update.setIfMissing) ?? itemFault(update.add) ?? itemFault(update.deleteFromSet)
  );
}

function faultOf(write: Write): string | undefined {
  const shared = keyFault(write.key) ?? firstFault(write.conditions, conditionFault);
  if (shared !== undefined) return shared;
  switch (write.op) {
    case "put":
      return itemFault(write.item) ?? sizeFault({ ...write.item, ...write.key });
    case "update":
      return changesFault(write);
    default:
      throw write satisfies never;
  }
}

export function sizeFault(item: Item): string | undefined {
  const bytes = itemBytes(item);
  return bytes > maxItemBytes ? `the item has ${bytes} bytes, more than ${maxItemBytes}` : undefined;
}

export const writeError = (write: Write, fault: string): Error =>
  new Error(`write ${write.name} of ${JSON.stringify(write.key)} cannot be made: ${fault}`);

/** @throws Error for a write that no table would take. */
export function checkWrite(write: Write): void {
  const fault = faultOf(write);
  if (fault !== undefined) throw writeError(write, fault);
}

/** @throws Error for a transaction that no table would take (transaction-apis.html: 1 to 100 actions, each on its own item). */
export function checkTransaction(writes: readonly Write[]): void {
  if (writes.length === 0 || writes.length > fixed.transactionActions)
    throw new Error(`a transaction holds 1 to ${fixed.transactionActions} writes, not ${writes.length}`);
  const seen = new Set<string>();
  for (const write of writes) {
    checkWrite(write);
    const place = JSON.stringify([write.key.pk, write.key.sk]);
    if (seen.has(place)) throw writeError(write, "the transaction writes this item twice");
    seen.add(place);
  }
}
