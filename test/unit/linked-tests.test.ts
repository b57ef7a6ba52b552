/** The pages that promise something link the tests that show it: a test that is renamed or gone must not leave a promise behind. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";

const root = join(import.meta.dirname, "../..");
const pages = ["", "docs"].flatMap((folder) =>
  readdirSync(join(root, folder))
    .filter((name) => name.endsWith(".md"))
    .map((name) => join(folder, name)),
);
/** `[text](path "title")`; addresses of the web and anchors are nobody's business here. */
const link = /\]\(([^)\s#]+)(?:#[^)\s]*)?(?:\s+"([^"]+)")?\)/g;

const linksOf = (page: string) =>
  [...readFileSync(join(root, page), "utf8").matchAll(link)]
    .map(([, path = "", title]) => ({ path, title }))
    .filter(({ path }) => !path.startsWith("http"));

describe.each(pages)("%s", (page) => {
  test("links only what exists", () => {
    const gone = linksOf(page).filter(({ path }) => !existsSync(join(root, dirname(page), path)));
    expect(gone).toEqual([]);
  });

  test("names only tests that exist", () => {
    const gone = linksOf(page).filter(({ path, title }) => {
      if (title === undefined || !path.endsWith(".test.ts")) return false;
      return !readFileSync(join(root, dirname(page), path), "utf8").includes(title);
    });
    expect(gone).toEqual([]);
  });
});

test("the guarantees name many tests, so this page of links is really read", () => {
  expect(linksOf("docs/guarantees.md").filter(({ title }) => title !== undefined).length).toBeGreaterThan(40);
});
