/** What Lambda runs, made from the sources: the same twice, without what a cold start does not need, or refused with the reason. */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Stack } from "aws-cdk-lib";
import { Template } from "aws-cdk-lib/assertions";
import { Construct } from "constructs";
import { afterAll, describe, expect, it, vi } from "vitest";
import { type BundledFile, bundle, prebuildShipped, shippedCode } from "../../infra/bundle.ts";
import { functionModule, projectRoot } from "../../infra/package-root.ts";
import { LeaseholdStack } from "../../infra/stack.ts";
import { bundlingApp, ids, resourcesOf, someTools } from "./synth.ts";

const folder = mkdtempSync(join(tmpdir(), "leasehold-bundle-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const written = (name: string, text: string): string => {
  const path = join(folder, name);
  mkdirSync(join(path, ".."), { recursive: true });
  writeFileSync(path, text);
  return path;
};

const textOf = (files: readonly BundledFile[], name: string): string =>
  Buffer.from(files.find((file) => file.name === name)?.contents ?? []).toString("utf8");

/** What is loaded before the first invocation: the entry and all that it imports at once. */
function loadedAtStart(files: readonly BundledFile[]): readonly BundledFile[] {
  const names = new Set(["index.mjs"]);
  for (const name of names)
    for (const [, imported] of textOf(files, name).matchAll(/(?:from|import)\s*"\.\/([^"]+)"/g))
      if (imported !== undefined) names.add(imported);
  return files.filter(({ name }) => names.has(name));
}

const makeWorker = () => bundle({ entry: functionModule("worker"), tools: someTools });
const worker = makeWorker();

describe("a bundle", () => {
  it("is the same from wherever it is made, so that nothing is deployed that has not changed", () => {
    const cwd = vi.spyOn(process, "cwd").mockReturnValue(folder);
    const there = makeWorker();
    cwd.mockRestore();
    expect(there.map(({ name }) => name)).toEqual(worker.map(({ name }) => name));
    for (const { name } of worker) expect(textOf(there, name) === textOf(worker, name)).toBe(true);
  });

  it("tells nothing of the machine that made it", () => {
    for (const { name } of worker) expect(textOf(worker, name).includes(projectRoot)).toBe(false);
  });

  it("of the worker loads less than 500 KB at a cold start, and the client for S3 only when a large value comes", () => {
    const loaded = loadedAtStart(worker);
    expect(loaded.length).toBeGreaterThan(1);
    expect(loaded.reduce((sum, { contents }) => sum + contents.length, 0)).toBeLessThan(500_000);
    const holdsS3 = ({ contents }: BundledFile) => Buffer.from(contents).includes("PutObject");
    const code = worker.filter(({ name }) => name.endsWith(".mjs"));
    expect(code.filter(holdsS3).map(({ name }) => name)).toEqual([expect.stringMatching(/^values-in-s3-/)]);
    expect(loaded.filter(holdsS3).map(({ name }) => name)).toEqual([]);
  });

  it("takes its credentials from the environment and brings no other way to them", () => {
    for (const { name } of worker) expect(textOf(worker, name).includes("AWS_CONTAINER_CREDENTIALS")).toBe(false);
  });

  it("says where the reason is that it cannot be made", () => {
    const tools = written(
      "broken/tools.ts",
      `import { missing } from "./nowhere.ts";\nexport const tools = [missing];\n`,
    );
    expect(() => bundle({ entry: functionModule("worker"), tools })).toThrow(
      `${tools}:1:25: Could not resolve "./nowhere.ts"`,
    );
    const wrong = written("broken/syntax.ts", "export const tools = [;\n");
    expect(() => bundle({ entry: functionModule("worker"), tools: wrong })).toThrow(`${wrong}:1:23: Unexpected ";"`);
  });

  it.each([
    ["no handler", "entry.ts", "export const handle = () => {};\n", "got handle"],
    ["a handler of the old kind", "entry.cjs", "exports.handler = () => {};\n", "got default"],
    ["nothing", "empty.ts", "console.log(1);\n", "got no export"],
  ])("of an entry that exports %s is refused", (_, name, text, got) => {
    const entry = written(name, text);
    expect(() => bundle({ entry, tools: someTools })).toThrow(
      `${entry} must export handler as an ES module does, ${got}`,
    );
  });

  it("runs packages of the old kind, which ask for require, __dirname and their files", () => {
    written(
      "old/node_modules/old/index.js",
      `exports.seen = [require("node:os").EOL, typeof __dirname, typeof __filename];\n`,
    );
    written("old/node_modules/old/package.json", `{ "name": "old", "version": "1.0.0" }\n`);
    const entry = written("old/entry.ts", `import { seen } from "old";\nexport const handler = () => seen;\n`);
    const files = bundle({ entry });
    const made = written("old/made/index.mjs", textOf(files, "index.mjs"));
    const run = `import(${JSON.stringify(made)}).then(({ handler }) => console.log(JSON.stringify(handler())))`;
    const { stdout, stderr } = spawnSync(process.execPath, ["--eval", run], { encoding: "utf8" });
    expect(stderr).toBe("");
    expect(JSON.parse(stdout)).toEqual(["\n", "string", "string"]);
  });

  it("leaves out what a layer brings, reads files as it is told, and puts in what is defined", () => {
    written("more/query.sql", "select 1");
    const entry = written(
      "more/entry.ts",
      `import chrome from "chrome-of-a-layer";\nimport query from "./query.sql";\nexport const handler = () => [chrome, query, VERSION];\n`,
    );
    const bundling = {
      external: ["chrome-of-a-layer"],
      loader: { ".sql": "text" },
      define: { VERSION: '"v7"' },
    } as const;
    const text = textOf(bundle({ entry, bundling }), "index.mjs");
    expect(text).toContain('"chrome-of-a-layer"');
    expect(text).toContain('"select 1"');
    expect(text).toContain('"v7"');
  });
});

describe("the functions that the package brings ready-made", () => {
  it("are bundled to the same bytes as here", () => {
    prebuildShipped(folder);
    for (const name of ["relay", "scanner"])
      for (const file of bundle({ entry: functionModule(name) }))
        expect(readFileSync(join(folder, name, file.name)).equals(file.contents)).toBe(true);
  });
});

describe("a synth that bundles", () => {
  const codeIn = (outdir: string): unknown => {
    const stack = new Stack(bundlingApp(join(folder, outdir)), "Relay");
    const code = shippedCode("relay").bind(new Construct(stack, "Code"));
    return code.s3Location?.objectKey;
  };
  const synthesised = (tools: string): Template =>
    Template.fromStack(new LeaseholdStack(bundlingApp(), "Leasehold", { namespace: "test", tools }));

  it("makes the same asset wherever it puts it", () => {
    expect(codeIn("one")).toMatch(/^[0-9a-f]{64}\.zip$/);
    expect(codeIn("two/deeper")).toBe(codeIn("one"));
  });

  it("makes a bundle for each function, and lists the tools where others can read them", () => {
    const resources = resourcesOf(synthesised(someTools));
    const functions = Object.values(resources).filter(({ Type }) => Type === "AWS::Lambda::Function");
    expect(new Set(functions.map(({ Properties }) => JSON.stringify(Properties.Code))).size).toBe(4);
    expect(resources[ids.commands]?.Metadata?.["leasehold:tools"]).toEqual(
      expect.arrayContaining([
        { name: "noop", effect: "read_only" },
        { name: "buy-voucher", effect: "idempotent" },
      ]),
    );
  });

  it("ends with the reason when the tools are wrong", () => {
    const tools = written("wrong/tools.ts", "export const tool = 1;\n");
    expect(() => synthesised(tools)).toThrow(`tools (${tools}): must export a list tools`);
  });
});
