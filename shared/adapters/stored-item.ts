/** Items as they come back, checked to hold only what the adapters write; anything else was put there by another hand. */
import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import type { Item, Value } from "../write.ts";

function numberOf(attr: string, found: unknown): number {
  // The wire has 38 digits: what a double has rounded is another number.
  if (typeof found === "number" && Math.abs(found) <= Number.MAX_SAFE_INTEGER) return found;
  throw new Error(`stored attribute ${attr} holds ${String(found)}, which is no number that JavaScript can keep`);
}

function checkedValue(attr: string, found: unknown): Value {
  if (typeof found === "string" || typeof found === "boolean") return found;
  if (found instanceof Set) return new Set([...found].map((member: unknown) => numberOf(attr, member)));
  if (typeof found === "number" || typeof found === "bigint") return numberOf(attr, found);
  throw new Error(`stored attribute ${attr} is no string, number, boolean or number set`);
}

/** From the document client. @throws Error that names the attribute. */
export const storedItem = (raw: Readonly<Record<string, unknown>>): Item =>
  Object.fromEntries(Object.entries(raw).map(([attr, found]) => [attr, checkedValue(attr, found)]));

function plain(value: WireImage[string]): unknown {
  if (value.S !== undefined) return value.S;
  if (value.N !== undefined) return Number(value.N);
  if (value.BOOL !== undefined) return value.BOOL;
  if (value.NS !== undefined) return new Set(value.NS.map(Number));
  return undefined;
}

/** From an error: the document client leaves these in the form of the wire. @throws as `storedItem`. */
export const refusedItem = (raw: Readonly<Record<string, AttributeValue>> | undefined): Item | undefined =>
  raw === undefined || Object.keys(raw).length === 0
    ? undefined
    : storedItem(Object.fromEntries(Object.entries(raw).map(([attr, value]) => [attr, plain(value)])));

/** The attributes of a stream record's image, which come in the form of the wire too. */
type WireImage = Readonly<
  Record<string, { readonly S?: string; readonly N?: string; readonly BOOL?: boolean; readonly NS?: string[] }>
>;

/** From a stream record. @throws as `storedItem`. */
export const streamImage = (image: WireImage): Item =>
  storedItem(Object.fromEntries(Object.entries(image).map(([attr, value]) => [attr, plain(value)])));
