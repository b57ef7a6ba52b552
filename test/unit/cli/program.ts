/** The program as a test runs it: words in, exit code and both outputs out. */
import { fileURLToPath } from "node:url";
import { runCli } from "../../../cli/run.ts";
import type { CliWorld } from "../../../cli/world.ts";
import type { Client } from "../../../client/index.ts";

export type Ran = { readonly exitCode: number; readonly stdout: string; readonly stderr: string };

export async function run(client: Client, args: readonly string[], more: Partial<CliWorld> = {}): Promise<Ran> {
  let stdout = "";
  let stderr = "";
  const exitCode = await runCli(args, {
    client,
    stdout: { write: (text) => (stdout += text) },
    stderr: { write: (text) => (stderr += text) },
    readInput: async () => "",
    environment: {},
    ...more,
  });
  return { exitCode, stdout, stderr };
}

/** Runs with the graph as standard input. */
export const runWith = (client: Client, graph: unknown, args: readonly string[]): Promise<Ran> =>
  run(client, args, { readInput: async () => (typeof graph === "string" ? graph : JSON.stringify(graph)) });

export const graphPath = (name: string): string => fileURLToPath(new URL(`../../graphs/${name}`, import.meta.url));

export const jsonLines = (text: string): unknown[] =>
  text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
