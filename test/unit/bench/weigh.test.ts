/** What a package weighs in a bundle, against what esbuild itself says of that bundle. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { buildSync } from "esbuild";
import { afterAll, expect, test } from "vitest";
import { bundlersOwn, ownCode, packageOf, weightsOf } from "../../bench/report/weigh.ts";

const folder = mkdtempSync(join(tmpdir(), "leasehold-weigh-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const files = {
  "entry.js": `import { a } from "plain"; import { b } from "@scoped/thing";\nconsole.log(a(1), b("two"), "own text");`,
  "node_modules/plain/index.js": `export const a = (x) => ["the first package", x, x + 1, "ends here"];`,
  "node_modules/@scoped/thing/index.js": `import { a } from "plain"; export const b = (y) => a(y).map((z) => z + " and more");`,
};

test("each byte of a bundle belongs to the package that esbuild says, or to the bundler", () => {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  const { outputFiles, metafile } = buildSync({
    absWorkingDir: folder,
    entryPoints: ["entry.js"],
    bundle: true,
    minify: true,
    format: "esm",
    metafile: true,
    sourcemap: true,
    sourcesContent: false,
    write: false,
    outdir: "out",
  });
  const [map, code] = outputFiles.map(({ text }) => text);
  const weights = weightsOf(code ?? "", map ?? "");
  const said = Object.entries(metafile.outputs["out/entry.js"]?.inputs ?? {});
  expect(said).toHaveLength(3);
  for (const [input, { bytesInOutput }] of said) {
    const weighed = weights.get(packageOf(input)) ?? 0;
    // What the bundler puts between two modules, a "var" or a ";", one counts here and the other there.
    expect(Math.abs(weighed - bytesInOutput), input).toBeLessThanOrEqual(8);
  }
  const sum = [...weights.values()].reduce((total, bytes) => total + bytes, 0);
  expect(sum).toBe(code?.length);
  expect([...weights.keys()].sort()).toEqual([bundlersOwn, ownCode, "@scoped/thing", "plain"].sort());
});

test.each([
  ["../shared/start.ts", ownCode],
  ["../node_modules/zod/v4/core.js", "zod"],
  ["../node_modules/@aws-sdk/core/node_modules/@smithy/core/dist/index.js", "@smithy/core"],
])("%s stands in %s", (source, name) => {
  expect(packageOf(source)).toBe(name);
});
