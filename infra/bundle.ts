/**
 * What Lambda runs, made from modules by the package's own esbuild. Not NodejsFunction, since that looks for esbuild and a
 * lock file in the user's app and asks Docker where it finds none, and it writes one file, so that every cold start would
 * load the client for S3, which only large values need.
 */
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { AssetHashType, DockerImage } from "aws-cdk-lib";
import * as lambda from "aws-cdk-lib/aws-lambda";
import { type BuildOptions, type BuildResult, buildSync, type Loader, type Message } from "esbuild";
import { functionModule, functionsFolder, prebuiltFolder, projectRoot } from "./package-root.ts";
import { shownPath } from "./shown-path.ts";

/** How a user's modules are bundled where they need more than the defaults; each has the meaning that esbuild gives it. */
export type WorkerBundling = {
  /** Packages that are not bundled, for those that a layer brings. */
  readonly external?: readonly string[];
  /** File endings, with their dot, and how such files are read: `{ ".sql": "text" }`. */
  readonly loader?: Readonly<Record<string, Loader>>;
  /** Names that are replaced by expressions. */
  readonly define?: Readonly<Record<string, string>>;
};

export type Bundle = {
  /** The entry module, a path or a text; what the text imports relatively begins in the folder of the functions. */
  readonly entry: string | { readonly text: string };
  /** Module that stands for `leasehold-tools`; missing where a function runs no tool. */
  readonly tools?: string;
  readonly bundling?: WorkerBundling;
};

/** Sources are named relative to it, and nothing is written there: what is made does not depend on where it is put. */
const nowhere = join(projectRoot, "out");

/**
 * Packages of the old kind ask for these, and a module of the new kind has none of them. Under names of our own: a module that
 * makes its `__dirname` by itself, as those of the new kind do, would otherwise clash with it.
 */
const commonJsNames = [
  `import { createRequire as leaseholdCreateRequire } from "node:module";`,
  `import { fileURLToPath as leaseholdPathOf } from "node:url";`,
  `const require = leaseholdCreateRequire(import.meta.url);`,
  `const leaseholdFilename = leaseholdPathOf(import.meta.url);`,
  `const leaseholdDirname = leaseholdPathOf(new URL(".", import.meta.url));`,
].join("\n");

/** Where the function finds itself: of what stands beside a user's module there is nothing. */
const whereItRuns = { __filename: "leaseholdFilename", __dirname: "leaseholdDirname" };

/** The folder into which Lambda unpacks a function (configuration-envvars.html: LAMBDA_TASK_ROOT). */
const taskRoot = resolve("/var/task");
const whereLambdaRunsIt = Object.fromEntries(
  Object.entries({
    "import.meta.url": pathToFileURL(join(taskRoot, "index.mjs")).href,
    "import.meta.filename": join(taskRoot, "index.mjs"),
    "import.meta.dirname": taskRoot,
    __filename: join(taskRoot, "index.mjs"),
    __dirname: taskRoot,
  }).map(([name, place]) => [name, JSON.stringify(place)]),
);

const common = (bundling: WorkerBundling, place: Readonly<Record<string, string>> = whereItRuns): BuildOptions => ({
  absWorkingDir: projectRoot,
  bundle: true,
  platform: "node",
  format: "esm",
  // Below the runtime's own version, so that a local emulator runs the very same bundle on the Node that is installed.
  target: "node20.19",
  mainFields: ["module", "main"],
  // The SDK of the runtime changes without a deploy; retries and time-outs here rest on the version that was tested.
  external: [...(bundling.external ?? [])],
  loader: { ...bundling.loader },
  define: { ...place, ...bundling.define },
  banner: { js: commonJsNames },
  sourcesContent: false,
  logLevel: "silent",
});

const entryOf = (entry: Bundle["entry"]): BuildOptions =>
  typeof entry === "string"
    ? { entryPoints: [entry] }
    : { stdin: { contents: entry.text, resolveDir: functionsFolder, sourcefile: "entry.js", loader: "js" } };

export type BundledFile = { readonly name: string; readonly contents: Uint8Array };

/**
 * `index.mjs`, the chunks that it loads, those that are loaded when they are first needed, and their source maps.
 * @throws Error with file, line and reason of whatever cannot be bundled, or where the entry exports no `handler`.
 */
export function bundle({ entry, tools, bundling = {} }: Bundle): readonly BundledFile[] {
  const { outputFiles, metafile } = built({
    ...common(bundling),
    ...entryOf(entry),
    write: false,
    metafile: true,
    minify: true,
    sourcemap: true,
    splitting: true,
    outdir: nowhere,
    entryNames: "index",
    outExtension: { ".js": ".mjs" },
    alias: {
      "@aws-sdk/credential-provider-node": functionModule("lambda-credentials"),
      ...(tools === undefined ? {} : { "leasehold-tools": tools }),
    },
  });
  const { exports = [] } = metafile?.outputs["out/index.mjs"] ?? {};
  if (!exports.includes("handler")) {
    const name = typeof entry === "string" ? shownPath(entry) : "the entry";
    throw new Error(`${name} must export handler as an ES module does, got ${exports.join(", ") || "no export"}`);
  }
  return (outputFiles ?? []).map(({ path, contents }) => ({ name: relative(nowhere, path), contents }));
}

/**
 * One text that runs by itself, for here and now: a module that is given as text, with all that it imports. Whatever in it asks
 * for its own place is told where Lambda puts a function, so that a file beside a user's module is missed here as it is there.
 */
export function bundledText(text: string, bundling: WorkerBundling = {}): string {
  const { outputFiles } = built({
    ...common(bundling, whereLambdaRunsIt),
    ...entryOf({ text }),
    write: false,
    sourcemap: "inline",
    outdir: nowhere,
  });
  return outputFiles?.[0]?.text ?? "";
}

/** As an asset of the stack: it is bundled when the stack is synthesised, once for all functions that are made alike. */
export const bundledCode = (made: Bundle): lambda.Code =>
  lambda.Code.fromAsset(projectRoot, {
    assetHashType: AssetHashType.OUTPUT,
    bundling: {
      // Never pulled, since whatever cannot be bundled here throws.
      image: DockerImage.fromRegistry("none"),
      // Never run: it is what tells one bundle from another.
      command: ["leasehold", JSON.stringify(made)],
      local: {
        tryBundle: (folder) => {
          write(folder, bundle(made));
          return true;
        },
      },
    },
  });

/** A function that holds nothing of the user's: as it came with the package, or bundled from the sources. */
export function shippedCode(name: "relay" | "scanner"): lambda.Code {
  const prebuilt = prebuiltFolder(name);
  return prebuilt !== undefined && existsSync(join(prebuilt, "index.mjs"))
    ? lambda.Code.fromAsset(prebuilt)
    : bundledCode({ entry: functionModule(name) });
}

/** For the build of the package: writes the functions that hold nothing of the user's, each into a folder of its name. */
export function prebuildShipped(folder: string): void {
  for (const name of ["relay", "scanner"] as const) write(join(folder, name), bundle({ entry: functionModule(name) }));
}

function write(folder: string, files: readonly BundledFile[]): void {
  mkdirSync(folder, { recursive: true });
  for (const { name, contents } of files) writeFileSync(join(folder, name), contents);
}

function built(options: BuildOptions): BuildResult {
  try {
    return buildSync(options);
  } catch (error) {
    const { errors = [] } = error as { readonly errors?: readonly Message[] };
    if (errors.length === 0) throw error;
    throw new Error(errors.map(sentence).join("; "), { cause: error });
  }
}

const sentence = ({ text, location }: Message): string =>
  location === null
    ? text
    : `${shownPath(resolve(projectRoot, location.file))}:${location.line}:${location.column + 1}: ${text}`;
