import type { Command } from "commander";
import type { Client } from "../client/index.ts";
import type { ReadStackTemplate } from "../shared/adapters/stack-template.ts";
import type { Arguments } from "./arguments.ts";
import { harmlessJson, type Line, type Paint, painted, paintFor, unpainted } from "./line.ts";

export type Output = {
  write(text: string): unknown;
  /** Whether it is a terminal, and of what size; a terminal's size is asked for anew each time. */
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
};

/** What the commands are given: the entry gives them the process's, a test gives them its own. */
export type CliWorld = {
  readonly client: Client;
  readonly stdout: Output;
  readonly stderr: Output;
  /** All of standard input. */
  readonly readInput: () => Promise<string>;
  readonly environment: { readonly [name: string]: string | undefined };
  /** Ends a wait; the command then says nothing more. */
  readonly signal?: AbortSignal;
  /** Wall-clock time. @default the system's */
  readonly nowMs?: () => number;
  /** @default CloudFormation's, by the SDK's standard environment */
  readonly readTemplate?: ReadStackTemplate;
};

/** 130 is what shells give a program that Ctrl-C has ended. */
export const exitCodes = { done: 0, failed: 1, usage: 2, interrupted: 130 } as const;

/** Headings of the list of commands, in its order. */
export type CommandGroup = "Runs:" | "Doubts:" | "Tools:" | "On this machine:";

/** One command of the program. */
export type CliCommand = {
  readonly name: string;
  readonly group: CommandGroup;
  /** Says what the command is for, what it takes, and shows it by examples. */
  readonly declare: (command: Command) => void;
  /** It has something to put away after Ctrl-C, and does so at once; the others are not waited for. */
  readonly endsItself?: true;
  /** @returns the exit code. */
  readonly run: (given: Arguments, world: CliWorld) => Promise<number>;
};

export const nowOf = (world: CliWorld): number => world.nowMs?.() ?? Date.now();

export const printJson = (output: Output, value: unknown): void => {
  output.write(`${harmlessJson(JSON.stringify(value))}\n`);
};

export const printLine = (output: Output, line: Line, paint: Paint = unpainted): void => {
  output.write(`${painted(line, paint)}\n`);
};

/** Prints an answer, in colours where standard output is to have them. */
export function printLines(world: CliWorld, lines: readonly Line[]): void {
  const paint = paintFor(world.stdout, world.environment);
  for (const line of lines) printLine(world.stdout, line, paint);
}

export const signalOf = (world: CliWorld) => (world.signal === undefined ? {} : { signal: world.signal });

export const waitOf = (world: CliWorld, timeoutMs: number | undefined) => ({
  ...(timeoutMs === undefined ? {} : { timeoutMs }),
  ...signalOf(world),
});
