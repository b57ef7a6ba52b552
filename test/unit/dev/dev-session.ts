/** A folder of a user's own files, and a dev session on it whose words can be waited for. */
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { type DevOptions, runDev } from "../../../cli/dev/dev.ts";

const root = join(import.meta.dirname, "../../..");

export type Folder = {
  readonly path: (name: string) => string;
  /** The path as the program tells it. */
  readonly shown: (name: string) => string;
  write(name: string, text: string): void;
  /** Lines of what tools have left in a file. */
  lines(name: string): readonly string[];
  remove(): void;
};

export function userFolder(): Folder {
  const folder = mkdtempSync(join(tmpdir(), "leasehold-dev-"));
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  const path = (name: string): string => join(folder, name);
  writeFileSync(path("package.json"), '{ "type": "module" }');
  return {
    path,
    shown: (name) => relative(process.cwd(), path(name)),
    write: (name, text) => writeFileSync(path(name), text),
    lines: (name) => readFileSync(path(name), "utf8").trimEnd().split("\n"),
    remove: () => rmSync(folder, { recursive: true }),
  };
}

/** The beginning of a module of tools: `tool(name, effect, execute)` and `act(operationId)`, which leaves a line in `effects`. */
export const moduleHead = (folder: Folder): string => `import { appendFileSync } from "node:fs";
import * as z from "zod";
import { defineTool } from ${JSON.stringify(join(root, "shared/tool.ts"))};
const act = (id: string) => appendFileSync(${JSON.stringify(folder.path("effects"))}, \`\${id}\\n\`);
const any = { input: z.unknown(), output: z.unknown(), timeoutMs: 500 };
`;

export const graphOf = (...nodes: readonly object[]): string => JSON.stringify({ nodes });

export type Session = {
  readonly exitCode: Promise<number>;
  /** What was said since the last call. @throws Error when it is not said within ten seconds, with what was said. */
  until(text: string): Promise<string>;
  type(line: string): void;
  endInput(): void;
  interrupt(): void;
};

const patienceMs = 10_000;

export function devSession(options: Partial<DevOptions> & Pick<DevOptions, "tools">): Session {
  let said = "";
  let from = 0;
  const interruption = new AbortController();
  const input: (string | undefined)[] = [];
  let wake = (): void => undefined;
  const write = (text: string): void => {
    said += text;
  };
  async function* readLines(): AsyncGenerator<string> {
    for (;;) {
      while (input.length === 0) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      const line = input.shift();
      if (line === undefined) return;
      yield line;
    }
  }
  const put = (line: string | undefined): void => {
    input.push(line);
    wake();
  };
  const exitCode = runDev(
    { once: false, kill: false, json: false, ...options },
    { stdout: { write }, stderr: { write }, environment: {}, signal: interruption.signal, readLines },
  );
  return {
    exitCode,
    until: async (text) => {
      const endMs = performance.now() + patienceMs;
      for (;;) {
        const at = said.indexOf(text, from);
        if (at !== -1) {
          const news = said.slice(from, at + text.length);
          from = at + text.length;
          return news;
        }
        if (performance.now() > endMs)
          throw new Error(`${JSON.stringify(text)} was not said, but:\n${said.slice(from)}`);
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    },
    type: put,
    endInput: () => put(undefined),
    interrupt: () => interruption.abort(),
  };
}

/** One run to its end. */
export async function devOnce(
  options: Omit<DevOptions, "once" | "kill" | "json"> & Partial<DevOptions>,
): Promise<{ readonly exitCode: number; readonly said: string }> {
  let said = "";
  const output = { write: (text: string) => (said += text) };
  const exitCode = await runDev(
    { once: true, kill: false, json: false, ...options },
    { stdout: output, stderr: output, environment: {} },
  );
  return { exitCode, said };
}
