/** A user's module of tools, bundled and imported as it stands now. */
import { rmSync } from "node:fs";
import { mkdir, rm, rmdir, stat, writeFile } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { type BuildResult, build, type Message } from "esbuild";
import { systemClock } from "../shared/adapters/clock.ts";
import { anyPool, type Bounds } from "../shared/pools.ts";
import { type AnyTool, toolTable } from "../shared/tool.ts";
import { placesOf } from "./dev/places.ts";
import { type UsageError, usageError } from "./usage.ts";

export type LoadedTools = {
  readonly tools: readonly AnyTool[];
  /** Absolute paths of what the module is made of, packages left out: a change in one of them may change the tools. */
  readonly files: readonly string[];
};

/** `files`: what to look at until it is repaired, absolute. */
export type LoadError = UsageError & { readonly files: readonly string[] };

export const isLoadError = (error: unknown): error is LoadError => error instanceof Error && "files" in error;

/** What any deployment could hold: how much the one of these tools does hold, its own limits say. */
export const widestBounds: Bounds = { attemptLimitMs: 893_000, functionTimeoutMs: 1 };

/**
 * Loads it afresh at each call: what was imported before stays as it was. Packages are taken from where the module finds them.
 * @throws LoadError that names the file, the rule and what came: no such file, a syntax error with its line, an import that
 * throws, no list `tools`, a tool that breaks a rule.
 */
export async function loadTools(path: string): Promise<LoadedTools> {
  const file = resolve(path);
  const fault: Fault = (what, files) => Object.assign(usageError(`${path}: ${what}`), { files: [file, ...files] });
  await mustBeFile(file, fault);
  const bundle = await bundleOf(file, fault);
  const given = await imported(file, bundle, fault);
  const tools = listOf(given, bundle.files, fault);
  try {
    toolTable(tools, anyPool(widestBounds));
  } catch (cause) {
    throw fault(`tools: ${cause instanceof Error ? cause.message : String(cause)}`, bundle.files);
  }
  return { tools, files: bundle.files };
}

type Fault = (what: string, files: readonly string[]) => LoadError;

async function mustBeFile(file: string, fault: Fault): Promise<void> {
  const found = await stat(file).catch(() => undefined);
  if (found?.isFile() === true) return;
  throw fault(`must be a file of tools, got ${found === undefined ? "no such file" : "no file"}`, []);
}

type Bundle = { readonly code: string; readonly files: readonly string[] };

async function bundleOf(file: string, fault: Fault): Promise<Bundle> {
  const first = await built(file, fault);
  // Modules of the older kind call `require`, which a module of the newer kind has to make. Only then: their own would clash with it.
  const requires = Object.values(first.metafile.outputs).some(({ imports }) =>
    imports.some(({ kind }) => kind === "require-call"),
  );
  const { metafile, outputFiles } = requires ? await built(file, fault, requireBanner) : first;
  const inputs = Object.keys(metafile.inputs).filter((name) => basename(name) !== entryName);
  return { code: outputFiles[0]?.text ?? "", files: inputs.map((name) => resolve(name)) };
}

const entryName = "leasehold-dev-entry";
const requireBanner =
  'import { createRequire as leaseholdRequire } from "node:module"; const require = leaseholdRequire(import.meta.url);';
/** Under names that no module has by itself: those of the newer kind make their own `__dirname`. */
const placesBanner = "const { filename: leaseholdFilename, dirname: leaseholdDirname } = import.meta;";

type Built = BuildResult<{ readonly write: false; readonly metafile: true }>;

async function built(file: string, fault: Fault, banner = ""): Promise<Built> {
  try {
    return await build({
      stdin: {
        // All that is exported, so that a module of the older kind, and one that forgot it, are read in the same way.
        contents: `import * as given from ${JSON.stringify(`./${basename(file)}`)};\nexport { given };`,
        resolveDir: dirname(file),
        sourcefile: entryName,
      },
      bundle: true,
      write: false,
      metafile: true,
      platform: "node",
      format: "esm",
      target: `node${process.versions.node}`,
      packages: "external",
      sourcemap: "inline",
      sourcesContent: false,
      outfile: join(scratchOf(await packageFolder(file)), "bundle.mjs"),
      banner: { js: `${banner}${placesBanner}` },
      define: { __filename: "leaseholdFilename", __dirname: "leaseholdDirname" },
      keepNames: true,
      logLevel: "silent",
    });
  } catch (cause) {
    const errors = messagesOf(cause);
    if (errors.length === 0) throw cause;
    throw fault(`must be a module that can be built, got ${errors.map(told).join("; ")}`, errors.flatMap(involved));
  }
}

const scratchOf = (folder: string): string => join(folder, ".leasehold");

/** Where the module's packages are looked for. */
async function packageFolder(file: string): Promise<string> {
  for (let folder = dirname(file); ; folder = dirname(folder)) {
    if ((await stat(join(folder, "package.json")).catch(() => undefined)) !== undefined) return folder;
    if (dirname(folder) === folder) return dirname(file);
  }
}

function messagesOf(cause: unknown): readonly Message[] {
  const errors: unknown = cause instanceof Error ? Reflect.get(cause, "errors") : undefined;
  // esbuild's own error; nothing else that it throws has such a list.
  return Array.isArray(errors) ? (errors as readonly Message[]) : [];
}

const told = ({ text, location }: Message): string =>
  location === null || basename(location.file) === entryName
    ? text
    : `${location.file}:${location.line}:${location.column + 1}: ${text}`;

/** The file that is wrong, and the one that it could not find: when that comes into being, it is worth another try. */
function involved({ text, location }: Message): readonly string[] {
  if (location === null) return [];
  const missing = /^Could not resolve "(\.[^"]*)"/.exec(text)?.[1];
  const at = resolve(location.file);
  return [at, ...(missing === undefined ? [] : [resolve(dirname(at), missing)])];
}

let loads = 0;

async function imported(file: string, { code, files }: Bundle, fault: Fault): Promise<object> {
  const scratch = scratchOf(await packageFolder(file));
  loads += 1;
  // A name of its own: what is imported twice under one name is loaded once.
  const copy = join(scratch, `tools-${process.pid}-${loads}.mjs`);
  const made = await mkdir(scratch, { recursive: true });
  await writeFile(copy, code);
  // A module may end the process, or Ctrl-C does while it is imported.
  const remove = (): void => rmSync(copy, { force: true });
  process.once("exit", remove);
  // Errors then name lines of the user's source.
  process.setSourceMapsEnabled(true);
  try {
    const { given } = await inTime(import(pathToFileURL(copy).href));
    return given as object;
  } catch (cause) {
    const [place] = placesOf(cause, files);
    const where = place === undefined ? "" : `, ${place}`;
    const what = `${messageOf(cause).replaceAll(copy, file)}${where}`;
    throw fault(`must be a module that can be imported without any environment, got ${what}`, files);
  } finally {
    process.off("exit", remove);
    await rm(copy, { force: true });
    // Unless another program keeps something there, or has it for its own.
    if (made !== undefined) await rmdir(scratch).catch(() => undefined);
  }
}

/** As long as the synth waits for it. */
const patienceMs = 60_000;

/** The timer also holds the process: it would end without a word where nothing but the import is waited for. */
async function inTime<Given>(importing: Promise<Given>): Promise<Given> {
  const over = new AbortController();
  const late = systemClock.sleep(patienceMs, over.signal).then(() => {
    throw new Error(`no end within ${patienceMs} ms`);
  });
  try {
    return await Promise.race([importing, late]);
  } finally {
    over.abort();
  }
}

function listOf(given: object, files: readonly string[], fault: Fault): readonly AnyTool[] {
  const tools: unknown = Reflect.get(given, "tools");
  if (tools === undefined) {
    const names = Object.keys(given);
    throw fault(
      `must export a list "tools", got ${names.length === 0 ? "no exports" : `exports ${names.join(", ")}`}`,
      files,
    );
  }
  if (!Array.isArray(tools)) throw fault(`tools must be a list of tools, got ${kindOf(tools)}`, files);
  for (const [index, tool] of tools.entries()) {
    if (typeof tool !== "object" || tool === null || !("name" in tool)) {
      throw fault(`tools[${index}] must be a tool, as defineTool gives it, got ${kindOf(tool)}`, files);
    }
  }
  // Their fields are the table's to check.
  return tools as readonly AnyTool[];
}

/** A module may export anything, also what JSON cannot show. */
const kindOf = (value: unknown): string => {
  if (typeof value === "object" && value !== null)
    return `an object with ${Object.keys(value).slice(0, 5).join(", ") || "no fields"}`;
  return typeof value === "function" ? "a function" : String(value);
};

const messageOf = (cause: unknown): string =>
  cause instanceof Error ? `${cause.name}: ${cause.message}` : String(cause);
