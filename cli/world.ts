import type { Client } from "../client/index.ts";

type Output = { write(text: string): unknown };

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
};

/** 130 is what shells give a program that Ctrl-C has ended. */
export const exitCodes = { done: 0, failed: 1, usage: 2, interrupted: 130 } as const;

/** One command of the program. */
export type CliCommand = {
  /** One line for the list of commands. */
  readonly summary: string;
  readonly help: string;
  readonly run: (args: readonly string[], world: CliWorld) => Promise<number>;
};

export const printJson = (output: Output, value: unknown): void => {
  output.write(`${JSON.stringify(value)}\n`);
};

/** Ids and errors are others' text: what would steer a terminal or turn the line around is shown as its code. */
const steering = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu;

export const printLine = (output: Output, line: string): void => {
  const code = (found: string) => `\\u{${found.codePointAt(0)?.toString(16) ?? ""}}`;
  output.write(`${line.replace(steering, code)}\n`);
};

export const waitOf = (world: CliWorld, timeoutMs: number | undefined) => ({
  ...(timeoutMs === undefined ? {} : { timeoutMs }),
  ...(world.signal === undefined ? {} : { signal: world.signal }),
});
