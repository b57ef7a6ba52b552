/** docs/scenarios.md answers every public report of a fault, and the tests that it names are there. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";

const root = join(import.meta.dirname, "..", "..");

/** The ids of the reports as they were collected; the numbers have gaps. */
const ids = `
  001 002 004 005 007 008 009 011 012 014 015 017 019 021 022 023 024 027 029 030 031 032 033
  034 036 037 039 040 042 043 044 046 047 050 051 052 054 055 056 058 059 060 062 064 066 067 069
  070 071 072 074 075 077 078 079 081 082 084 085 087 088 089 091 092 094 095 097 098 100 101 102
  105 106 108 110 111 112 113 114 116 117 119 120 122 123 125 127 128 130 132 133 135 137 138 140
  141 143 145 147 148 150 152 153 155 156 157 159 161 162 164 166 168 169 170 172 173 175 177 179
  180 182 183 185 187 189 191 192 194 196 198 199 202 203 204 206 207 209 210 213 214 215 217 219 220
`
  .trim()
  .split(/\s+/)
  .map((number) => `BUG-${number}`);

type Row = {
  readonly id: string;
  readonly fault: string;
  /** What stands under it: its kind and its text. */
  readonly answers: readonly { readonly kind: string; readonly text: string }[];
};

const page = readFileSync(join(root, "docs", "scenarios.md"), "utf8");
const rows: readonly Row[] = page
  .split(/^- (?=BUG-)/m)
  .slice(1)
  .map((part) => {
    const [first = "", ...lines] = part.split(/\n(?:##[^\n]*)?/).filter((line) => line !== "");
    const [, id = "", fault = ""] = /^(BUG-\d+): (.+)$/.exec(first) ?? [];
    const answers = lines.map((line) => {
      const [, kind = "", text = ""] = /^ {2}- (test|later|cannot|note): (.+)$/.exec(line) ?? [];
      if (kind === "") throw new Error(`a line under ${id} must be test, later, cannot or note, got ${line}`);
      return { kind, text };
    });
    return { id, fault, answers };
  });

type Named = { readonly path: string; readonly title: string };

/** A test as it is named there: `path` "title", or `path` "title of a describe › title". */
function named(text: string): Named | undefined {
  const [, path, title] = /^`(test\/[^`]+\.ts)` "([^"]+)"$/.exec(text) ?? [];
  return path === undefined || title === undefined ? undefined : { path, title };
}
const testsOf = ({ answers }: Row): readonly string[] =>
  answers.filter(({ kind }) => kind === "test").map(({ text }) => text);
const kindsOf = ({ answers }: Row): readonly string[] => [
  ...new Set(answers.map(({ kind }) => kind).filter((kind) => kind !== "note")),
];

const escaped = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");

/** Where the title begins a call's arguments: of test, it, or of what their each has given; of describe where it is not the last. */
const stands = (title: string, source: string, of: "describe" | "test"): boolean =>
  new RegExp(`${of === "test" ? "(?<!describe)" : "describe"}\\(\\s*(["'\`])${escaped(title)}\\1,`).test(source);

const missing = (one: Named | undefined): boolean => {
  if (one === undefined || !existsSync(join(root, one.path))) return true;
  const { path, title } = one;
  const source = readFileSync(join(root, path), "utf8");
  return !title
    .split(" › ")
    .every((part, place, parts) => stands(part, source, place === parts.length - 1 ? "test" : "describe"));
};

describe("the list of public reports", () => {
  test("has 144 ids, each of them once and in order", () => {
    expect(ids).toHaveLength(144);
    expect(rows.map((row) => row.id)).toEqual(ids);
  });

  test("gives each one answer of one kind", () => {
    expect(rows.filter((row) => row.fault === "" || kindsOf(row).length !== 1)).toEqual([]);
  });

  test("names only tests that exist", () => {
    const gone = rows.flatMap((row) =>
      testsOf(row)
        .filter((text) => missing(named(text)))
        .map((text) => `${row.id}: ${text}`),
    );
    expect(gone).toEqual([]);
  });

  test("would find a test that is gone, or renamed", () => {
    const path = "test/unit/scenarios-list.test.ts";
    expect(missing({ path, title: "the list of public reports › names only tests that exist" })).toBe(false);
    expect(missing({ path, title: "the list of public reports › names only tests that existed" })).toBe(true);
    expect(missing({ path, title: "the list of public reports" })).toBe(true);
    expect(missing({ path: "test/unit/no-such.test.ts", title: "names only tests that exist" })).toBe(true);
  });

  test("answers by a test whatever report a scenario's own test mentions", () => {
    const own = ["events", "messages", "weather"].map((name) =>
      readFileSync(join(root, "test", "unit", "scenarios", `${name}.test.ts`), "utf8"),
    );
    const mentioned = new Set(own.flatMap((text) => text.match(/BUG-\d+/g) ?? []));
    const answered = new Set(rows.filter((row) => testsOf(row).length > 0).map((row) => row.id));
    expect([...mentioned].filter((id) => !answered.has(id))).toEqual([]);
  });
});
