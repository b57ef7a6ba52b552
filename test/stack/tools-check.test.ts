/** Modules of tools that would fail every start of their function are refused before anything is deployed. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { projectRoot } from "../../infra/package-root.ts";
import { checkedTools } from "../../infra/tools-check.ts";
import { defaultLimits } from "../../shared/limits.ts";

// Below the project, where zod is found.
mkdirSync(join(projectRoot, ".leasehold"), { recursive: true });
const folder = mkdtempSync(join(projectRoot, ".leasehold", "tools-check-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let files = 0;
function written(text: string, ending = "ts"): string {
  files += 1;
  const path = join(folder, `tools-${files}.${ending}`);
  writeFileSync(path, text);
  return path;
}

const head = `
  import { z } from "zod";
  import { defineTool } from "../../shared/tool.ts";
  const some = (more: object) =>
    defineTool({ name: "a", input: z.any(), output: z.any(), effect: "idempotent", execute: async () => 1, ...more } as never);
`;
const main = (text: string) => ({ field: "tools", path: written(text), limits: defaultLimits });
const heavy = (text: string) => ({
  field: "pools.heavy.tools",
  path: written(text),
  pool: "heavy",
  limits: defaultLimits,
});

describe("modules of tools that are right", () => {
  it("give the tools of all of them, with what each says of itself", () => {
    const tools = checkedTools([
      main(
        `${head} export const tools = [some({ timeoutMs: 5_000, retry: { attempts: 8 } }), some({ name: "b", lease: "invocation" })];`,
      ),
      heavy(`${head} export const tools = [some({ name: "c", pool: "heavy", effect: "read_only" })];`),
    ]);
    expect(tools).toEqual([
      { name: "a", effect: "idempotent", timeoutMs: 5_000, attempts: 8 },
      { name: "b", effect: "idempotent", lease: "invocation" },
      { name: "c", effect: "read_only", pool: "heavy" },
    ]);
  });

  it("may print, start timers, and be of the old kind", () => {
    const path = written(
      `const { z } = require("zod"); console.log("hello"); console.error("hello"); setInterval(() => {}, 1000);
       exports.tools = [{ name: "old", input: z.any(), output: z.any(), effect: "read_only", execute: async () => 1 }];`,
      "cjs",
    );
    expect(checkedTools([{ field: "tools", path, limits: defaultLimits }])).toEqual([
      { name: "old", effect: "read_only" },
    ]);
  });

  it("may make their own __dirname and require, as modules of the new kind do", () => {
    const text = `${head}
      import { createRequire } from "node:module"; import { dirname } from "node:path"; import { fileURLToPath } from "node:url";
      const __filename = fileURLToPath(import.meta.url); const __dirname = dirname(__filename);
      const require = createRequire(import.meta.url);
      export const tools = [some({ name: typeof require("node:fs").readFileSync + __dirname.replaceAll("/", ".") })];`;
    expect(checkedTools([main(text)])).toEqual([{ name: "function.var.task", effect: "idempotent" }]);
  });

  it("may ask by themselves for a package that a layer brings", () => {
    const text = `${head} import { createRequire } from "node:module";
      export const tools = [some({ name: typeof createRequire(import.meta.url)("commander") })];`;
    expect(checkedTools([{ ...main(text), bundling: { external: ["commander"] } }])).toEqual([
      { name: "object", effect: "idempotent" },
    ]);
  });

  it("see nothing of the environment that the synth has", () => {
    process.env.LEASEHOLD_TEST_SECRET = "x";
    try {
      const text = `${head} if (process.env.LEASEHOLD_TEST_SECRET || process.env.HOME) throw new Error("seen"); export const tools = [some({})];`;
      expect(checkedTools([main(text)])).toHaveLength(1);
    } finally {
      delete process.env.LEASEHOLD_TEST_SECRET;
    }
  });
});

type Modules = readonly Parameters<typeof checkedTools>[0][number][];

describe("a module of tools is refused", () => {
  it.each<readonly [string, () => Modules, string]>([
    [
      "that exports no list",
      () => [main("export const tools = {};")],
      "must export a list tools of what defineTool returned",
    ],
    [
      "that exports something else",
      () => [main("export default [];")],
      "must export a list tools of what defineTool returned",
    ],
    [
      "that throws",
      () => [main(`throw new TypeError("PAY_URL is not set"); export const tools = [];`)],
      "must be importable without any environment, got TypeError: PAY_URL is not set",
    ],
    [
      "that reads a file beside it, which is not beside the function",
      () => [
        main(
          `import { readFileSync } from "node:fs"; readFileSync(new URL("./tools-1.ts", import.meta.url)); export const tools = [];`,
        ),
      ],
      "got Error: ENOENT: no such file or directory, open '/var/task/tools-1.ts'",
    ],
    [
      "that reads a file beside it in the old way",
      () => [
        main(
          `require("node:fs").readFileSync(require("node:path").join(__dirname, "tools-1.ts")); exports.tools = [];`,
        ),
      ],
      "got Error: ENOENT: no such file or directory, open '/var/task/tools-1.ts'",
    ],
    [
      "that asks by itself for a package, which is not bundled then",
      () => [
        main(
          `import { createRequire } from "node:module"; createRequire(import.meta.url)("commander"); export const tools = [];`,
        ),
      ],
      "got Error: Cannot find module 'commander'",
    ],
    [
      "that holds no tool",
      () => [main("export const tools = [7];")],
      "tools[0] must be what defineTool returned, got number",
    ],
    [
      "that defines a tool wrongly",
      () => [main(`${head} export const tools = [some({ effect: "often" })];`)],
      'got Error: defineTool("a"): effect must be one of read_only, idempotent, reconcilable, at_most_once, got "often"',
    ],
    [
      "that has two tools of one name",
      () => [main(`${head} export const tools = [some({}), some({})];`)],
      'tool "a": name must be unique, two tools have it',
    ],
    [
      "that has a tool whose attempts take longer than is allowed",
      () => [main(`${head} export const tools = [some({ timeoutMs: 240_001 })];`)],
      'tool "a": timeoutMs (240001) must be at most limits.attemptLimitMs (240000)',
    ],
    [
      "that has a pool's tool among the main ones",
      () => [main(`${head} export const tools = [some({ pool: "heavy" })];`)],
      'tool "a": pool must be left out in the main worker, got "heavy"',
    ],
  ])("%s", (_, modules, message) => {
    const [module, ...others] = modules();
    if (module === undefined) throw new Error("a module must be given");
    expect(() => checkedTools([module, ...others])).toThrow(`tools (${relative(process.cwd(), module.path)}): `);
    expect(() => checkedTools([module, ...others])).toThrow(message);
  });

  it("that has more tools than a claim can name", () => {
    const many = `export const tools = Array.from({ length: 101 }, (_, place) => some({ name: "t" + place }));`;
    expect(() => checkedTools([main(`${head} ${many}`)])).toThrow("tools: at most 100 in one deployment, got 101");
  });

  it("that has more tools than a claim can name together with the others", () => {
    const many = (pool: string) =>
      `${head} export const tools = Array.from({ length: 60 }, (_, place) => some({ name: "${pool}" + place${pool === "main" ? "" : `, pool: "${pool}"`} }));`;
    expect(() => checkedTools([main(many("main")), heavy(many("heavy"))])).toThrow(
      "tools: at most 100 in one deployment, got 120 of ",
    );
  });

  it("of a pool that has a tool without one, or of another", () => {
    const mains = main(`${head} export const tools = [];`);
    const lost = heavy(`${head} export const tools = [some({})];`);
    expect(() => checkedTools([mains, lost])).toThrow(
      `pools.heavy.tools (${relative(process.cwd(), lost.path)}): tool "a": pool must be "heavy" in the worker of that pool, got none`,
    );
    const strange = heavy(`${head} export const tools = [some({ pool: "light" })];`);
    expect(() => checkedTools([mains, strange])).toThrow(
      'pool must be "heavy" in the worker of that pool, got "light"',
    );
  });

  it("of a pool that has a tool of a name that the main ones have", () => {
    const first = main(`${head} export const tools = [some({})];`);
    const second = heavy(`${head} export const tools = [some({ pool: "heavy" })];`);
    expect(() => checkedTools([first, second])).toThrow(
      `tool "a": name must be unique, ${relative(process.cwd(), first.path)} has one of this name`,
    );
  });

  it("whose import never ends or ends the process", () => {
    const path = relative(process.cwd(), written("await new Promise(() => {}); export const tools = [];"));
    expect(() => checkedTools([{ field: "tools", path: join(process.cwd(), path), limits: defaultLimits }])).toThrow(
      `tools (${path}) must be importable without any environment, got the end of process`,
    );
    expect(() => checkedTools([main("process.exit(0); export const tools = [];")])).toThrow("with code 0");
  });

  it("that cannot be read", () => {
    expect(() => checkedTools([main("export const tools = [;")])).toThrow(/tools-\d+\.ts:1:23: Unexpected ";"/);
  });
});
