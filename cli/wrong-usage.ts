/** What commander finds wrong, in the words of all errors here: what, its rule, and what came. */
import type { Command, CommanderError } from "commander";
import { flagOf, nameOf } from "./arguments.ts";
import { shown, type UsageError, usageError } from "./usage.ts";

/** @param command the one that was being read. @returns undefined for what is no error, such as help that was asked for. */
export function wrongUsage(command: Command, { code, message }: CommanderError): UsageError | undefined {
  switch (code) {
    case "commander.missingArgument":
      return usageError(`${missingName(command)} must be given, got nothing`);
    case "commander.optionMissingArgument":
      return usageError(`${missingValue(command, message)} must have a value, got nothing`);
    case "commander.excessArguments":
      return usageError(excess(command));
    case "commander.unknownOption":
      return usageError(unknownOption(command, message));
    case "commander.unknownCommand":
      return unknownCommand(command, command.args[0], message);
    default:
      return undefined;
  }
}

/** @param message commander's own, for its suggestion. */
export function unknownCommand(program: Command, name: string | undefined, message: string): UsageError {
  const shownCommands = program.createHelp().visibleCommands(program);
  const known = shownCommands.map((each) => each.name()).join(", ");
  return usageError(`command must be one of ${known}, got ${shown(name)}${suggestionIn(message)}`);
}

const missingName = (command: Command): string =>
  command.registeredArguments.find(({ required }, place) => required && command.args[place] === undefined)?.name() ??
  "each argument";

function missingValue(command: Command, message: string): string {
  const option = command.options.find(({ flags }) => message.includes(`'${flags}'`));
  return option === undefined ? "each option" : flagOf(option);
}

function excess(command: Command): string {
  const names = command.registeredArguments.map(nameOf);
  const extra = shown(command.args[names.length]);
  if (names.length === 0) return `${command.name()} must have no argument, got ${extra}`;
  const only = names.length === 1 ? "the only argument" : "the only arguments";
  return `${names.join(" ")} must be ${only} besides options, got ${extra} after it`;
}

function unknownOption(command: Command, message: string): string {
  const flag = /unknown option '(.*?)'(?:\n\(|$)/s.exec(message)?.[1] ?? "";
  const name = flag.slice(0, Math.max(flag.indexOf("="), 0));
  if (command.options.some(({ long }) => long === name)) {
    return `${name} must stand alone, got the value ${shown(flag.slice(name.length + 1))}`;
  }
  if (command.parent === null) return `command must be given before its options, got ${shown(flag)}`;
  const known = command.options.map(flagOf).join(", ");
  return `option must be one of ${known}, got ${shown(flag)}${suggestionIn(message)}`;
}

function suggestionIn(message: string): string {
  const suggestion = /\n\(Did you mean (?:one of )?(.*)\?\)$/.exec(message)?.[1];
  return suggestion === undefined ? "" : ` (did you mean ${suggestion.replaceAll(", ", " or ")}?)`;
}
