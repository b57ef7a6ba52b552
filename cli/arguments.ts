import { parseArgs } from "node:util";
import { shown, usageError } from "./usage.ts";

/** A command's options: each either takes a text or stands alone. */
export type OptionTypes = { readonly [name: string]: "string" | "boolean" };

export type Arguments = {
  /** The first one, or "" where it may be missing and is. */
  readonly positional: string;
  /** All of them. */
  readonly positionals: readonly string[];
  /** The text of an option, undefined where it was not given. */
  text(name: string): string | undefined;
  given(name: string): boolean;
};

/**
 * Exactly the named positional arguments, of which those in brackets may be missing, and known options, each at most once.
 * @throws UsageError that names the argument, the rule and what came.
 */
export function readArguments(
  args: readonly string[],
  names: string | readonly string[],
  types: OptionTypes,
): Arguments {
  const options = Object.fromEntries(Object.entries(types).map(([name, type]) => [name, { type, multiple: true }]));
  const { tokens } = parseArgs({ args: [...args], options, allowPositionals: true, strict: false, tokens: true });
  const values = new Map<string, string | true>();
  const positionals: string[] = [];
  for (const token of tokens) {
    if (token.kind === "positional") positionals.push(token.value);
    if (token.kind !== "option") continue;
    if (values.has(token.name)) throw usageError(`${token.rawName} must be given at most once, got it twice`);
    values.set(token.name, optionValue(token, types));
  }
  checkPositionals(positionals, typeof names === "string" ? [names] : names);
  return {
    positional: positionals[0] ?? "",
    positionals,
    text: (name) => {
      const value = values.get(name);
      return typeof value === "string" ? value : undefined;
    },
    given: (name) => values.has(name),
  };
}

function checkPositionals(given: readonly string[], names: readonly string[]): void {
  for (const [index, name] of names.entries()) {
    const value = given[index];
    if (value === "" || (value === undefined && !name.startsWith("[")))
      throw usageError(`${name} must be given, got ${shown(value)}`);
  }
  const extra = given[names.length];
  if (extra === undefined) return;
  const only = names.length === 1 ? "the only argument" : "the only arguments";
  throw usageError(`${names.join(" ")} must be ${only} besides options, got ${shown(extra)} after it`);
}

type OptionToken = {
  readonly name: string;
  readonly rawName: string;
  readonly value: string | undefined;
  readonly inlineValue: boolean | undefined;
};

function optionValue({ name, rawName, value, inlineValue }: OptionToken, types: OptionTypes): string | true {
  const type = Object.hasOwn(types, name) ? types[name] : undefined;
  if (type === undefined) {
    const known = Object.keys(types).map((each) => `--${each}`);
    throw usageError(`option must be one of ${known.join(", ")}, got ${shown(rawName)}`);
  }
  if (type === "boolean") {
    if (value !== undefined) throw usageError(`${rawName} must stand alone, got the value ${shown(value)}`);
    return true;
  }
  if (value === undefined || value === "") throw usageError(`${rawName} must have a value, got ${shown(value)}`);
  // Most often the value was forgotten and the next option was taken for it.
  if (inlineValue !== true && value.startsWith("-")) {
    throw usageError(`${rawName} must have a value (one that begins with - as ${rawName}=VALUE), got ${shown(value)}`);
  }
  return value;
}

/** Seconds as a person gives them, in whole milliseconds. @throws UsageError unless they are in the range. */
export function millisecondsOf(
  name: string,
  text: string | undefined,
  range: { readonly leastMs: number; readonly mostMs: number },
): number | undefined {
  if (text === undefined) return undefined;
  const ms = /^\d+(\.\d+)?$/.test(text) ? Math.round(Number(text) * 1_000) : Number.NaN;
  if (ms >= range.leastMs && ms <= range.mostMs) return ms;
  throw usageError(
    `--${name} must be a number of seconds from ${range.leastMs / 1_000} to ${range.mostMs / 1_000}, got ${shown(text)}`,
  );
}
