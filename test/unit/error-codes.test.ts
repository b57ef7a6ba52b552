/** docs/errors.md tells what each code means: neither a code without an entry, nor an entry that nothing throws. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "../..");

const source = ["shared", "functions", "client", "cli"]
  .flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).map((name) => join(folder, name)),
  )
  .filter((path) => path.endsWith(".ts"))
  .map((path) => readFileSync(join(root, path), "utf8"))
  .join("\n");

/** The ways in which a code is given to an error, a refusal or a stored record. */
const given = [
  /\bcode: "([a-z_]+)"/g,
  /\bcode: [^,\n]*\? "([a-z_]+)"/g,
  /\bcode: [^,\n]*: "([a-z_]+)"/g,
  /\b(?:clientError|refusedBecause|stepError|foundNothing)\(\s*"([a-z_]+)"/g,
  /\bcalledOff\(\s*"[A-Z]+",\s*"([a-z_]+)"/g,
  /\b(?:stop|stopAfter)\([^"\n]*"([a-z_]+)"/g,
];
/** One that becomes a code with its blanks underlined. */
const endings = /is: "end", status: "[A-Z]+", guard, why: "([a-z ]+)"/g;
/** Zod's own, for a rule that the schema does not know. */
const notOurs = new Set(["custom"]);

const codes = new Set(
  [
    ...given.flatMap((pattern) => [...source.matchAll(pattern)].map(([, code = ""]) => code)),
    ...[...source.matchAll(endings)].map(([, why = ""]) => why.replaceAll(" ", "_")),
  ].filter((code) => !notOurs.has(code)),
);

const page = readFileSync(join(root, "docs/errors.md"), "utf8");
const told = new Set([...page.matchAll(/^\| `([a-z_]+)` \|/gm)].map(([, code = ""]) => code));

test("every code that the source gives is on the page", () => {
  expect([...codes].filter((code) => !told.has(code))).toEqual([]);
});

test("every code on the page is given somewhere", () => {
  expect([...told].filter((code) => !codes.has(code))).toEqual([]);
});

test("the page has many codes, so both are really read", () => {
  expect(told.size).toBeGreaterThan(50);
});
