import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import { delimiter, dirname } from "node:path";
import type { Limits } from "../shared/limits.ts";
import { bundledText, type WorkerBundling } from "./bundle.ts";
import { shownPath } from "./shown-path.ts";

/** A module of tools, and who runs them. */
export type ToolsModule = {
  /** The prop that names it. */
  readonly field: string;
  /** Absolute. */
  readonly path: string;
  /** Missing for the main module. */
  readonly pool?: string;
  readonly limits: Limits;
  readonly bundling?: WorkerBundling;
};

/** What one process has to say in, so that an import that waits for something does not hold the synth for ever. */
const patienceMs = 60_000;

/**
 * Imports the modules in a process of its own that has no environment, and checks their tools as the functions would at their
 * start.
 * @returns the tools as a deployment shows them: plain data.
 * @throws Error that names the prop, the module, the tool where it is one, and the rule that is broken.
 */
export function checkedTools(modules: readonly ToolsModule[]): readonly unknown[] {
  const { pid, status, signal, stderr, output, error } = spawnSync(
    process.execPath,
    ["--enable-source-maps", "--input-type=module"],
    {
      // What is not bundled is looked for from here.
      cwd: dirname(modules[0]?.path ?? process.cwd()),
      env: { PATH: process.env.PATH, ...placesOfLayers(modules) },
      input: bundledText(checkingText(modules), bundlingOfAll(modules)),
      // The answer comes on a way of its own, since a module may print what it likes.
      stdio: ["pipe", "ignore", "pipe", "pipe"],
      encoding: "utf8",
      timeout: patienceMs,
      maxBuffer: 16 * 1_024 * 1_024,
    },
  );
  const names = modules.map(({ path }) => shownPath(path)).join(", ");
  if (error !== undefined && signal === null)
    throw new Error(`tools (${names}) could not be checked`, { cause: error });
  const answer = answerIn(output[3]);
  if (answer?.fault !== undefined) throw new Error(answer.fault);
  if (answer?.tools !== undefined) return answer.tools;
  throw new Error(
    `tools (${names}) must be importable without any environment, got ${
      signal === null ? `the end of process ${pid} with code ${status}` : `no end within ${patienceMs} ms`
    } ${stderr.slice(-1_000)}`.trimEnd(),
  );
}

/**
 * What a layer brings is found from anywhere in the function (nodejs-layers.html), and stands here among the packages of the app.
 * Without a layer nothing is: a package that is not bundled would be missed there.
 */
function placesOfLayers(modules: readonly ToolsModule[]): { readonly NODE_PATH?: string } {
  if (modules.every(({ bundling }) => bundling?.external === undefined)) return {};
  const folders = modules.flatMap(({ path }) => createRequire(path).resolve.paths("any") ?? []);
  return { NODE_PATH: [...new Set(folders)].join(delimiter) };
}

/** Several bundlings as one that serves what each of them says; whoever says another thing of the same name comes last. */
export const bundlingOfAll = (modules: readonly { readonly bundling?: WorkerBundling }[]): WorkerBundling => ({
  external: [...new Set(modules.flatMap(({ bundling }) => bundling?.external ?? []))],
  loader: Object.assign({}, ...modules.map(({ bundling }) => bundling?.loader ?? {})),
  define: Object.assign({}, ...modules.map(({ bundling }) => bundling?.define ?? {})),
});

const checkingText = (modules: readonly ToolsModule[]): string => `
  import { writeSync } from "node:fs";
  import { toolsReport } from "./tools-report";
  const answer = await toolsReport([${modules.map(moduleText).join(", ")}]).then(
    (tools) => ({ tools }),
    (error) => ({ fault: error.message }),
  );
  writeSync(3, JSON.stringify(answer));
  process.exit(0);
`;

const moduleText = ({ field, path, pool, limits }: ToolsModule): string => {
  const data = { field, path: shownPath(path), limits, ...(pool === undefined ? {} : { pool }) };
  return `{ ...${JSON.stringify(data)}, load: () => import(${JSON.stringify(path)}) }`;
};

type Answer = { readonly tools?: readonly unknown[]; readonly fault?: string };

/** Our own process wrote it, so it is what it is, or nothing where that process came to no answer. */
const answerIn = (text: string | null | undefined): Answer | undefined =>
  text ? (JSON.parse(text) as Answer) : undefined;
