/** What the client's functions were given, judged before anything is done: a program without types makes slips, too. */
import { shown } from "./check.ts";
import { type ClientError, clientError } from "./errors.ts";

/** @param rule what the field must be, as it continues the field's name: "must be …". */
export function invalidOption(where: string, field: string, rule: string, given: unknown): ClientError {
  const value = shown(given);
  const place = where === "" ? "" : `${where}: `;
  return Object.assign(clientError("invalid_option", `${place}${field} ${rule}, got ${value}`), { field, rule, value });
}

export type Rule = { readonly rule: string; readonly holds: (value: unknown) => boolean };
type Rules = { readonly [field: string]: Rule };

const isObject = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/**
 * Each member that is there and not undefined must be known and keep its rule: a misspelt one is most often one that matters.
 * @throws ClientError `invalid_option` with field, rule and value.
 */
export function checkMembers(where: string, given: unknown, rules: Rules, under = ""): void {
  const names = Object.keys(rules);
  if (!isObject(given))
    throw invalidOption(where, under || "its argument", `must be an object of ${listed(names)}`, given);
  for (const [name, value] of Object.entries(given)) {
    const field = under === "" ? name : `${under}.${name}`;
    const rule = Object.hasOwn(rules, name) ? rules[name] : undefined;
    if (rule === undefined)
      throw invalidOption(where, field, `must not be there: the fields are ${listed(names)}`, value);
    if (value !== undefined && !rule.holds(value)) throw invalidOption(where, field, rule.rule, value);
  }
}

const listed = (names: readonly string[]): string => names.join(", ");

export function checkText(where: string, field: string, value: unknown): void {
  if (typeof value !== "string") throw invalidOption(where, field, "must be a string", value);
}

/** Judged elsewhere, where its rule stands. */
export const anything: Rule = { rule: "may be anything", holds: () => true };
export const text: Rule = {
  rule: "must be a string that is not empty",
  holds: (value) => typeof value === "string" && value !== "",
};
export const anyText: Rule = { rule: "must be a string", holds: (value) => typeof value === "string" };
export const list: Rule = { rule: "must be a list", holds: Array.isArray };
export const callback: Rule = { rule: "must be a function", holds: (value) => typeof value === "function" };
/** By its shape: a signal may come from another realm. */
export const signal: Rule = {
  rule: "must be an AbortSignal",
  holds: (value) => isObject(value) && "aborted" in value && "addEventListener" in value,
};
export const endpointUrl: Rule = {
  rule: 'must be a URL, such as "http://localhost:4566"',
  holds: (value) => typeof value === "string" && URL.canParse(value) && /^https?:/.test(value),
};
/** @param most inclusive. */
export const wholeFromOneTo = (most: number): Rule => ({
  rule: `must be a whole number from 1 to ${most}`,
  holds: (value) => typeof value === "number" && Number.isInteger(value) && value >= 1 && value <= most,
});
