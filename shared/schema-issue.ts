/** Where in a value a schema found its fault, and what stands there. */
import type * as z from "zod";

/** The path of an issue; for a field that nobody knows it leads to that field, which its sender looks for, and not to its object. */
export const issuePath = (issue: z.core.$ZodIssue): readonly PropertyKey[] =>
  issue.code === "unrecognized_keys" ? [...issue.path, ...issue.keys.slice(0, 1)] : issue.path;

/** @returns undefined where there is nothing; inherited members do not count. */
export function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  let found = value;
  for (const part of path) {
    if (typeof found !== "object" || found === null || !Object.hasOwn(found, part)) return undefined;
    found = Reflect.get(found, part);
  }
  return found;
}
