/** The house rules of docs/design.md, section 7, held by reading the files themselves. */
import { readdirSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { describe, expect, test } from "vitest";

const root = join(import.meta.dirname, "..");
const folders = ["infra", "functions", "shared", "cli", "client", "testing", "build", "examples", "test"] as const;

type SourceFile = { readonly path: string; readonly text: string };

const files: readonly SourceFile[] = folders
  .flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).map(
      (name) => `${folder}/${name.replaceAll("\\", "/")}`,
    ),
  )
  .filter((path) => path.endsWith(".ts"))
  .sort()
  .map((path) => ({ path, text: readFileSync(join(root, path), "utf8") }));
const shipped = files.filter(({ path }) => !path.startsWith("test/"));
const core = files.filter(({ path }) => path.startsWith("shared/") && !path.startsWith("shared/adapters/"));

/** Each exception has its reason here; one that no file needs any more fails the test. */
const exceptions = {
  imports: [
    {
      from: "examples/demo",
      to: "test/support/",
      why: "the demo kills the very processes, and reads the very ledger, that the tests do",
    },
    {
      from: "cli/local/deploy.ts",
      to: "@aws-sdk/client-cloudformation",
      why: "deploying asks the local AWS for its stacks; nothing that runs in the account does",
    },
  ],
  length: [{ path: "shared/transitions.ts", why: "every transition stands in one file (docs/design.md, section 3)" }],
  names: [{ path: "test/support/provider/services.ts", why: "the provider that it plays is made of web services" }],
} as const;
const isExcepted = (list: readonly { readonly path: string }[], path: string): boolean =>
  list.some((exception) => exception.path === path);

/** What a file imports: a package's name, or the path of a file of this repository. */
function importsOf({ path, text }: SourceFile): readonly string[] {
  const named = [...text.matchAll(/(?:\bfrom|\bimport)\s*\(?\s*"([^"\n]+)"/g)].flatMap(([, name]) => name ?? []);
  return named.map((name) => (name.startsWith(".") ? posix.join(posix.dirname(path), name) : name));
}

const startsWithOne = (name: string, prefixes: readonly string[]): boolean =>
  prefixes.some((prefix) => name === prefix || name.startsWith(prefix));

/** Where a file stands -> what it may import; the first that fits holds. */
const directions: readonly { readonly from: string; readonly may: readonly string[] }[] = [
  { from: "shared/adapters/", may: ["shared/", "@aws-sdk/", "node:"] },
  { from: "shared/", may: ["shared/", "zod", "node:crypto"] },
  { from: "infra/", may: ["infra/", "shared/limits.ts", "aws-cdk-lib", "constructs", "esbuild", "node:"] },
  {
    from: "functions/",
    may: ["functions/", "shared/", "leasehold-tools", "aws-lambda", "@aws-lambda-powertools/", "zod", "node:"],
  },
  { from: "client/", may: ["client/", "shared/", "zod", "node:"] },
  // The session in memory is made of the simulation's parts; the bundler makes one module of a user's own.
  { from: "cli/dev/", may: ["cli/", "client/", "testing/", "shared/", "node:"] },
  { from: "cli/load-tools.ts", may: ["cli/", "shared/", "esbuild", "node:"] },
  { from: "cli/", may: ["cli/", "client/", "shared/", "commander", "zod", "node:"] },
  { from: "testing/", may: ["testing/", "shared/", "node:"] },
  { from: "build/", may: ["cli/local/", "client/schemas.ts", "infra/bundle.ts", "node:"] },
  // The one example that is a deployment of its own.
  { from: "examples/agent-plan/app.ts", may: ["infra/index.ts", "aws-cdk-lib", "constructs", "node:"] },
  {
    from: "examples/",
    may: ["examples/", "cli/", "client/", "testing/", "shared/", "@aws-sdk/", "zod", "vitest", "node:"],
  },
];

type Import = { readonly from: string; readonly to: string };

const forbidden = shipped.flatMap((file): readonly Import[] => {
  const may = directions.find(({ from }) => file.path.startsWith(from))?.may ?? [];
  // The core knows nothing of its adapters either.
  const isCore = core.includes(file);
  return importsOf(file)
    .filter((name) => !startsWithOne(name, may) || (isCore && name.startsWith("shared/adapters/")))
    .map((to) => ({ from: file.path, to }));
});
const isExcused = ({ from, to }: Import): boolean =>
  exceptions.imports.some((known) => from.startsWith(known.from) && to.startsWith(known.to));

test("the rules are held against real files", () => {
  expect(core.length).toBeGreaterThan(25);
  expect(shipped.length).toBeGreaterThan(60);
  expect(files.flatMap(importsOf).length).toBeGreaterThan(300);
  expect(
    importsOf({
      path: "shared/a.ts",
      text: 'import x from "../infra/b.ts";\nexport * from "./c.ts";\nconst d = import("zod");\nimport "e";',
    }),
  ).toEqual(["infra/b.ts", "shared/c.ts", "zod", "e"]);
});

describe("imports", () => {
  test("go in the allowed directions only", () => {
    expect(forbidden.filter((one) => !isExcused(one))).toEqual([]);
  });

  test("of the AWS SDK stand in shared/adapters only", () => {
    const others = shipped
      .filter(({ path }) => !path.startsWith("shared/adapters/") && !path.startsWith("examples/"))
      .flatMap((file) => importsOf(file).map((to): Import => ({ from: file.path, to })))
      .filter(({ to }) => to.startsWith("@aws-sdk/"));
    expect(others.filter((one) => !isExcused(one))).toEqual([]);
  });

  test("of the stack take from shared what is in limits.ts and nothing else", () => {
    const taken = files.filter(({ path }) => path.startsWith("infra/")).flatMap(importsOf);
    expect(new Set(taken.filter((name) => name.startsWith("shared/")))).toEqual(new Set(["shared/limits.ts"]));
  });

  test("name a file that is there", () => {
    const known = new Set(files.map(({ path }) => path));
    const missing = shipped.flatMap((file) =>
      importsOf(file).filter(
        (name) =>
          /^(infra|functions|shared|cli|client|testing|build|examples|test)\//.test(name) &&
          name.endsWith(".ts") &&
          !known.has(name),
      ),
    );
    expect(missing).toEqual([]);
  });
});

describe("the core", () => {
  test.each([
    "Date.now(",
    "new Date(",
    "Math.random(",
    "performance.now(",
    "process.",
    "setTimeout(",
    "setInterval(",
    "setImmediate(",
    "randomUUID(",
    "randomBytes(",
    "console.",
  ])("has no %s: clock, chance and environment are arguments", (call) => {
    expect(core.filter(({ text }) => text.includes(call)).map(({ path }) => path)).toEqual([]);
  });

  test("ends each switch over a union in satisfies never", () => {
    const open = files
      .filter(({ path }) => path.startsWith("shared/"))
      .flatMap((file) =>
        switchesOf(file.text)
          .filter((block) => !/default:[^}]*satisfies never;/.test(block))
          .map(() => file.path),
      );
    expect(open).toEqual([]);
    expect(files.flatMap((file) => switchesOf(file.text)).length).toBeGreaterThan(10);
  });
});

/** The text of each switch, up to the brace that closes it. */
function switchesOf(text: string): readonly string[] {
  return [...text.matchAll(/^( *)(?:.*\s)?switch \(.*\{$/gm)].map((found) => {
    const end = text.indexOf(`\n${found[1] ?? ""}}`, found.index);
    return text.slice(found.index, end);
  });
}

const most = 300;
const lines = ({ text }: SourceFile): number => text.trimEnd().split("\n").length;

describe("files", () => {
  test(`that are shipped have at most ${most} lines`, () => {
    expect(
      shipped
        .filter((file) => lines(file) > most && !isExcepted(exceptions.length, file.path))
        .map((file) => `${file.path}: ${lines(file)}`),
    ).toEqual([]);
  });

  test("are named by what they decide", () => {
    expect(
      files
        .map(({ path }) => path)
        .filter(
          (path) =>
            !isExcepted(exceptions.names, path) &&
            /(^|\/)(utils?|helpers?|types|services?|common|misc)(\/|\.|$)/i.test(path),
        ),
    ).toEqual([]);
  });

  test("hold no promise to finish them later", () => {
    const later = new RegExp(
      `\\b(${["TO", "FIX"].map((start) => `${start}${start === "TO" ? "DO" : "ME"}`).join("|")})\\b`,
    );
    expect(files.filter(({ text }) => later.test(text)).map(({ path }) => path)).toEqual([]);
  });

  test("that excuse themselves from a lint rule say why", () => {
    const bare = files.flatMap(({ path, text }) =>
      [...text.matchAll(/biome-ignore[^\n]*/g)]
        .filter(([line]) => !/biome-ignore \S+: .{10,}/.test(line))
        .map(() => path),
    );
    expect(bare.filter((path) => path !== "test/tidy.test.ts")).toEqual([]);
  });
});

test("every exception is still needed", () => {
  const idle = exceptions.imports.filter(
    (known) => !forbidden.some(({ from, to }) => from.startsWith(known.from) && to.startsWith(known.to)),
  );
  const short = exceptions.length.filter(({ path }) => !files.some((file) => file.path === path && lines(file) > most));
  const gone = exceptions.names.filter(({ path }) => !files.some((file) => file.path === path));
  expect([...idle, ...short, ...gone]).toEqual([]);
});
