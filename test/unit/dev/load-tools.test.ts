import { spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { isLoadError, loadTools } from "../../../cli/load-tools.ts";
import { type Folder, moduleHead, userFolder } from "./dev-session.ts";

const root = join(import.meta.dirname, "../../..");
const loader = join(root, "cli/load-tools.ts");
const tsx = import.meta.resolve("tsx");

let folder: Folder;
beforeEach(() => {
  folder = userFolder();
});
afterEach(() => folder.remove());

const tool = (name: string): string =>
  `defineTool({ name: "${name}", ...any, effect: "read_only", execute: async () => "${name}" })`;
const module = (tools: string): string => `${moduleHead(folder)}export const tools = [${tools}];`;

test("a module is loaded with what it imports, and nothing is left of the loading", async () => {
  folder.write("names.ts", 'export const name: string = "first";');
  folder.write("tools.ts", `import { name } from "./names.ts";\n${module(tool("read").replace('"read",', "name,"))}`);
  const { tools, files } = await loadTools(folder.path("tools.ts"));
  expect(tools.map(({ name }) => name)).toEqual(["first"]);
  expect(files).toContain(folder.path("tools.ts"));
  expect(files).toContain(folder.path("names.ts"));
  expect(files.every((file) => existsSync(file) && !file.includes("node_modules"))).toBe(true);
  expect(existsSync(folder.path(".leasehold"))).toBe(false);
});

test("a module that has changed is loaded as it is now", async () => {
  folder.write("tools.ts", module(tool("before")));
  await loadTools(folder.path("tools.ts"));
  folder.write("tools.ts", module(tool("after")));
  expect((await loadTools(folder.path("tools.ts"))).tools.map(({ name }) => name)).toEqual(["after"]);
});

test("a module of the older kind, which requires its packages, is loaded too", async () => {
  folder.write(
    "tools.cjs",
    `const z = require("zod"); const { sep } = require("node:path");
     exports.tools = [{ name: "old", input: z.unknown(), output: z.unknown(), effect: "read_only", execute: async () => sep }];`,
  );
  expect((await loadTools(folder.path("tools.cjs"))).tools.map(({ name }) => name)).toEqual(["old"]);
});

/** In a process of its own: here the test runner gives each module a `__dirname`. */
function namesLoadedAlone(file: string): {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
} {
  const load = `import { loadTools } from ${JSON.stringify(loader)};
    console.log((await loadTools(${JSON.stringify(file)})).tools.map(({ name }) => name).join());`;
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ["--import", tsx, "--input-type=module", "--eval", load],
    { cwd: folder.path(""), encoding: "utf8" },
  );
  return { status, stdout, stderr };
}

test("a module of the older kind that asks for its place, and one of the newer kind that makes it by itself, are loaded too", () => {
  const rest = 'input: z.unknown(), output: z.unknown(), effect: "read_only", execute: async () => null';
  const old = `const z = require("zod"); exports.tools = [{ name: typeof __dirname + typeof __filename, ${rest} }];`;
  folder.write("tools.cjs", old);
  folder.write(
    "tools.mjs",
    `import { createRequire } from "node:module"; import { fileURLToPath } from "node:url"; import * as z from "zod"; import old from "./tools.cjs";
     const __filename = fileURLToPath(import.meta.url); const __dirname = import.meta.dirname; const require = createRequire(__filename);
     export const tools = [...old.tools, { name: typeof require("zod") + typeof __dirname, ${rest} }];`,
  );
  expect(namesLoadedAlone("tools.mjs")).toEqual({ status: 0, stdout: "stringstring,objectstring\n", stderr: "" });
});

test("a module whose import never ends is refused, and nothing is left of the loading", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "performance"] });
  try {
    folder.write("tools.ts", `await new Promise(() => {});\n${module(tool("never"))}`);
    let refused: unknown;
    loadTools(folder.path("tools.ts")).catch((thrown: unknown) => {
      refused = thrown;
    });
    while (refused === undefined) {
      await new Promise((resolve) => setImmediate(resolve));
      vi.advanceTimersByTime(60_000);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(String(refused)).toMatch(
      /tools\.ts: must be a module that can be imported .*, got Error: no end within 60000 ms$/,
    );
    expect(existsSync(folder.path(".leasehold"))).toBe(false);
  } finally {
    vi.useRealTimers();
  }
});

test("a module that ends the process leaves nothing of the loading either", () => {
  folder.write("tools.ts", "process.exit(3);");
  expect(namesLoadedAlone("tools.ts")).toEqual({ status: 3, stdout: "", stderr: "" });
  expect(readdirSync(folder.path(".leasehold"))).toEqual([]);
});

test("a module whose tools ask for more than a default deployment gives is loaded: how much is given is not known here", async () => {
  folder.write("tools.ts", module(`{ ...${tool("slow")}, timeoutMs: 600_000, pool: "heavy" }`));
  expect((await loadTools(folder.path("tools.ts"))).tools).toHaveLength(1);
});

describe("a module that cannot be used is refused with the file, the rule and what came:", () => {
  const text = (file: string, { write = true, is = "" } = {}) => (write ? folder.write(file, is) : undefined);
  test.each<[string, () => string | undefined, string | RegExp]>([
    ["a missing file", () => undefined, "must be a file of tools, got no such file"],
    [
      "a syntax error",
      () => "export const tools = [\n  {;",
      /^must be a module that can be built, got \S+tools\.ts:2:4: Expected identifier but found ";"$/,
    ],
    [
      "an import of a missing file",
      () => 'import "./gone.ts";',
      /^must be a module that can be built, got \S+tools\.ts:1:8: Could not resolve "\.\/gone\.ts"$/,
    ],
    [
      "an import of a missing package",
      () => 'import "no-such-package";\nexport const tools = [];',
      /^must be a module that can be imported without any environment, got Error: Cannot find package 'no-such-package'/,
    ],
    [
      "an import that throws",
      () => 'const url: string = "";\n\nif (url === "") throw new Error("URL is missing");',
      /^must be a module that can be imported without any environment, got Error: URL is missing, at \S+tools\.ts:3:23$/,
    ],
    [
      "no export tools",
      () => "export const tool = 1, other = 2;",
      'must export a list "tools", got exports other, tool',
    ],
    ["nothing exported", () => "export {};", 'must export a list "tools", got no exports'],
    [
      "tools that is a function",
      () => "export const tools = () => [];",
      "tools must be a list of tools, got a function",
    ],
    [
      "one tool, and no list",
      () => `${moduleHead(folder)}export const tools = { name: 1 };`,
      "tools must be a list of tools, got an object with name",
    ],
    [
      "a list of names",
      () => 'export const tools = ["buy"];',
      "tools[0] must be a tool, as defineTool gives it, got buy",
    ],
    [
      "a tool without a function",
      () => module(`{ ...${tool("read")}, execute: 3 }`),
      'tools: tool "read": execute must be a function, got number',
    ],
    [
      "two tools of one name",
      () => module(`${tool("read")}, ${tool("read")}`),
      'tools: tool "read": name must be unique, two tools have it',
    ],
    [
      "a tool that breaks a rule as it is defined",
      () => module(tool("read").replace("read_only", "sometimes")),
      /got Error: defineTool\("read"\): effect must be one of .*, got "sometimes", at \S+tools\.ts:6:\d+$/,
    ],
  ])("%s", async (_, source, says) => {
    const is = source();
    text("tools.ts", is === undefined ? { write: false } : { is });
    const path = folder.path("tools.ts");
    const error: unknown = await loadTools(path).catch((thrown: unknown) => thrown);
    if (!isLoadError(error)) throw error;
    expect(error.name).toBe("UsageError");
    expect(error.message.startsWith(`${path}: `)).toBe(true);
    const rest = error.message.slice(path.length + 2);
    if (typeof says === "string") expect(rest).toBe(says);
    else expect(rest).toMatch(says);
    expect(error.message).not.toContain(".mjs");
    expect(error.files).toContain(path);
    expect(existsSync(folder.path(".leasehold"))).toBe(false);
  });
});

test("a file that was not found is one to look at: it may come into being", async () => {
  folder.write("tools.ts", 'import "./gone.ts";');
  const error: unknown = await loadTools(folder.path("tools.ts")).catch((thrown: unknown) => thrown);
  expect(isLoadError(error) && error.files).toContain(folder.path("gone.ts"));
});
