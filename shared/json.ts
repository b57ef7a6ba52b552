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
  return find(value, "", 0, new Set());
}

function find(value: unknown, path: string, depth: number, above: Set<object>): JsonFault | undefined {
  if (value === null || typeof value === "boolean") return undefined;
  if (typeof value === "string") return value.isWellFormed() ? undefined : { path, kind: "lone surrogate" };
  if (typeof value === "number") return numberFault(value, path);
  if (typeof value !== "object") return { path, kind: typeof value };
  if (above.has(value)) return { path, kind: "cycle" };
  if (depth >= fixed.valueDepth) return { path, kind: `nesting deeper than ${fixed.valueDepth} levels` };
  above.add(value);
  const fault = membersFault(value, path, depth, above);
  above.delete(value);
  return fault;
}

function numberFault(value: number, path: string): JsonFault | undefined {
  if (!Number.isFinite(value)) return { path, kind: String(value) };
  if (Object.is(value, -0)) return { path, kind: "-0" };
  // Beyond 2^53 a whole number is no longer the one that was meant.
  if (Number.isInteger(value) && !Number.isSafeInteger(value)) return { path, kind: "whole number beyond 2^53" };
  return undefined;
}

function membersFault(value: object, path: string, depth: number, above: Set<object>): JsonFault | undefined {
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) {
      const fault = find(value[index], `${path}/${index}`, depth + 1, above);
      if (fault !== undefined) return fault;
    }
    return undefined;
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== null && prototype !== Object.prototype)
    return { path, kind: value.constructor?.name ?? "class instance" };
  if (Object.getOwnPropertySymbols(value).length > 0) return { path, kind: "symbol key" };
  if (typeof Reflect.get(value, "toJSON") === "function") return { path, kind: "toJSON" };
  for (const [name, member] of Object.entries(value)) {
    const at = `${path}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
    const fault = name.isWellFormed() ? find(member, at, depth + 1, above) : { path: at, kind: "lone surrogate" };
    if (fault !== undefined) return fault;
  }
  return undefined;
}
