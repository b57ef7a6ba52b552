/** What stands on the command line, read by commander, whose leniency ends here: nothing is taken twice, or for something else. */
import type { Command, Option } from "commander";
import { shown, usageError } from "./usage.ts";

export type Arguments = {
  /** All that are no options, in the order of the command's declaration; none of them is empty. */
  readonly positionals: readonly string[];
  /** The text of an option, by its long name without dashes; undefined where it was not given. */
  text(name: string): string | undefined;
  /** The texts of an option that may be repeated. */
  texts(name: string): readonly string[];
  given(name: string): boolean;
};

/**
 * Each argument and each option's value must be there and not empty, and each option stands at most once. Commander would
 * take the last one, and would take a forgotten value's next option for the value.
 * @param args as they were typed: only they show which values stand behind a `=`.
 */
export function readStrictly(command: Command, args: readonly string[]): void {
  for (const argument of command.registeredArguments) {
    argument.argParser((value: string) => {
      if (value === "") throw usageError(`${nameOf(argument)} must be given, got ""`);
      return value;
    });
  }
  for (const option of command.options) {
    // One with a default collects all that it is given.
    const collects = Array.isArray(option.defaultValue);
    option.argParser((value: string | undefined, before: unknown) => {
      if (before !== undefined && !collects) {
        throw usageError(`${flagOf(option)} must be given at most once, got it twice`);
      }
      const read = option.isBoolean() ? true : optionValue(flagOf(option), value, args);
      return collects && Array.isArray(before) ? [...before, read] : read;
    });
  }
}

export const flagOf = (option: Option): string => option.long ?? option.flags;

/** As the usage writes it: in brackets where it may be missing. */
export const nameOf = (argument: { readonly required: boolean; name(): string }): string =>
  argument.required ? argument.name() : `[${argument.name()}]`;

function optionValue(flag: string, value: string | undefined, args: readonly string[]): string {
  if (value === undefined || value === "") throw usageError(`${flag} must have a value, got ${shown(value)}`);
  // Most often the value was forgotten and the next option was taken for it.
  if (value.startsWith("-") && !args.includes(`${flag}=${value}`)) {
    throw usageError(`${flag} must have a value (one that begins with - as ${flag}=VALUE), got ${shown(value)}`);
  }
  return value;
}

/** What a parsed command was given. */
export function argumentsOf(command: Command): Arguments {
  const valueNamed = (name: string): unknown => {
    const option = command.options.find(({ long }) => long === `--${name}`);
    return option === undefined ? undefined : command.getOptionValue(option.attributeName());
  };
  return {
    positionals: command.args,
    text: (name) => {
      const value = valueNamed(name);
      return typeof value === "string" ? value : undefined;
    },
    texts: (name) => {
      const values = valueNamed(name);
      return Array.isArray(values) ? values.filter((value) => typeof value === "string") : [];
    },
    given: (name) => valueNamed(name) !== undefined,
  };
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

/** @throws UsageError unless it is a whole number in the range. */
export function wholeNumberOf(
  name: string,
  text: string | undefined,
  range: { readonly least: number; readonly most: number },
): number | undefined {
  if (text === undefined) return undefined;
  const number = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (number >= range.least && number <= range.most) return number;
  throw usageError(`--${name} must be a whole number from ${range.least} to ${range.most}, got ${shown(text)}`);
}
