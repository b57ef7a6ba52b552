/** The contract for values is JSON: what cannot come back equal is refused by name, and nothing is emptied in silence. */
import { fixed } from "./limits.ts";

export type JsonFault = { readonly path: string; readonly kind: string };
export type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json };

/** One JSON text for all values that are equal: object members sorted by name. */
export function canonicalJson(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonicalJson(member)}`).join(",")}}`;
}

/** Finds the first thing in a value that JSON would lose or change. @returns undefined where there is none. */
export function jsonFault(value: unknown): JsonFault | undefined {
  return find(value, 0, new Set());
}

/** The path of what it finds begins at `value`; those above put theirs before it, so that no path is made where all is well. */
function find(value: unknown, depth: number, above: Set<object>): JsonFault | undefined {
  if (value === null || typeof value === "boolean") return undefined;
  if (typeof value === "string") return value.isWellFormed() ? undefined : here("lone surrogate");
  if (typeof value === "number") return numberFault(value);
  if (typeof value !== "object") return here(typeof value);
  if (above.has(value)) return here("cycle");
  if (depth >= fixed.valueDepth) return here(`nesting deeper than ${fixed.valueDepth} levels`);
  above.add(value);
  const fault = membersFault(value, depth, above);
  above.delete(value);
  return fault;
}

const here = (kind: string): JsonFault => ({ path: "", kind });
const under = (name: string | number, { path, kind }: JsonFault): JsonFault => ({
  path: `/${String(name).replaceAll("~", "~0").replaceAll("/", "~1")}${path}`,
  kind,
});

function numberFault(value: number): JsonFault | undefined {
  if (!Number.isFinite(value)) return here(String(value));
  if (Object.is(value, -0)) return here("-0");
  // Beyond 2^53 a whole number is no longer the one that was meant.
  if (Number.isInteger(value) && !Number.isSafeInteger(value)) return here("whole number beyond 2^53");
  return undefined;
}

function membersFault(value: object, depth: number, above: Set<object>): JsonFault | undefined {
  const prototype: unknown = Object.getPrototypeOf(value);
  const isList = Array.isArray(value);
  if (prototype !== null && prototype !== (isList ? Array.prototype : Object.prototype)) return here(className(value));
  if (typeof Reflect.get(value, "toJSON") === "function") return here("toJSON");
  return isList ? elementsFault(value, depth, above) : namedFault(value, depth, above);
}

function className(value: object): string {
  const name: unknown = Reflect.get(Object(Reflect.get(value, "constructor")), "name");
  return typeof name === "string" && name !== "" ? name : "class instance";
}

function elementsFault(list: readonly unknown[], depth: number, above: Set<object>): JsonFault | undefined {
  for (let index = 0; index < list.length; index++) {
    const element = Object.getOwnPropertyDescriptor(list, index);
    const fault = element === undefined ? here("hole") : memberFault(element, depth, above);
    if (fault !== undefined) return under(index, fault);
  }
  // JSON writes the elements alone: what a list has besides, its length apart, would be lost.
  const names = Reflect.ownKeys(list);
  const last = names.length === list.length + 1 ? undefined : names.at(-1);
  if (last === undefined) return undefined;
  return typeof last === "symbol" ? here("symbol key") : under(last, here("member of a list"));
}

function namedFault(value: object, depth: number, above: Set<object>): JsonFault | undefined {
  for (const name of Reflect.ownKeys(value)) {
    if (typeof name === "symbol") return here("symbol key");
    if (!name.isWellFormed()) return under(name, here("lone surrogate"));
    const member = Object.getOwnPropertyDescriptor(value, name);
    const fault = member === undefined ? undefined : memberFault(member, depth, above);
    if (fault !== undefined) return under(name, fault);
  }
  return undefined;
}

/** A getter may say something else the next time, and JSON leaves out what is not enumerable. */
function memberFault(member: PropertyDescriptor, depth: number, above: Set<object>): JsonFault | undefined {
  if (!("value" in member)) return here("getter");
  if (member.enumerable !== true) return here("hidden member");
  return find(member.value, depth + 1, above);
}
