import { expect, test } from "vitest";
import { cutLine, painted, paintFor, textOf } from "../../../cli/line.ts";
import { cutMiddle, widthOf } from "../../../cli/text-width.ts";
import { deploymentOf, nodeItem, runItem } from "../client/deployment.ts";
import { run } from "./program.ts";

const csi = "\u001b[";
const green = `${csi}32mSUCCEEDED${csi}39m`;

async function succeeded() {
  const { client, put } = deploymentOf();
  await put(runItem({ status: "SUCCEEDED", ended_at_ms: Date.UTC(2030, 0, 1, 0, 0, 5) }));
  await put(nodeItem({ node_id: "buy", status: "SUCCEEDED", epoch: 1, attempts_used: 1 }));
  return client;
}

async function written(args: readonly string[], isTTY: boolean, environment: Record<string, string>): Promise<string> {
  let text = "";
  await run(await succeeded(), args, { stdout: { write: (part) => (text += part), isTTY }, environment });
  return text;
}

test.each<[string, boolean, Record<string, string>, boolean]>([
  ["a terminal", true, {}, true],
  ["a pipe", false, {}, false],
  ["a terminal under NO_COLOR", true, { NO_COLOR: "1" }, false],
  ["a terminal under an empty NO_COLOR", true, { NO_COLOR: "" }, true],
  ["a dumb terminal", true, { TERM: "dumb" }, false],
  ["a pipe under FORCE_COLOR", false, { FORCE_COLOR: "1" }, true],
  ["a pipe under an empty FORCE_COLOR", false, { FORCE_COLOR: "" }, true],
  ["a terminal under FORCE_COLOR=0", true, { FORCE_COLOR: "0" }, false],
  ["FORCE_COLOR against NO_COLOR", false, { FORCE_COLOR: "1", NO_COLOR: "1" }, true],
])("on %s statuses are coloured or not, and the text is the same", async (_, isTTY, environment, coloured) => {
  const text = await written(["status", "run"], isTTY, environment);
  expect(text.includes(green)).toBe(coloured);
  expect(text.includes(csi)).toBe(coloured);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colours are made of them
  expect(text.replace(/\u001b\[\d+m/g, "")).toBe(await written(["status", "run"], false, {}));
});

test.each([["status"], ["watch"]])("%s --json is never coloured", async (command) => {
  expect(await written([command, "run", "--json"], true, { FORCE_COLOR: "1" })).not.toContain(csi);
});

test.each([
  ["watch", ["watch", "run", "--plain"]],
  ["help", ["--help"]],
])("%s on a terminal is coloured, and under NO_COLOR it is not", async (_, args) => {
  expect(await written(args, true, {})).toContain(csi);
  expect(await written(args, true, { NO_COLOR: "1" })).not.toContain(csi);
});

test("what others wrote cannot steer the terminal from within a coloured line", () => {
  const paint = paintFor({ isTTY: true }, {});
  const line = ["a\u001b[2Jb", { text: "\u202ec\u0085", style: "red" }] as const;
  expect(painted(line, paint)).toBe(`a\\u{1b}[2Jb${csi}31m\\u{202e}c\\u{85}${csi}39m`);
});

test.each([
  ["abcdef", 6, "abcdef"],
  ["abcdef", 5, "abcd…"],
  ["abcdef", 1, "…"],
  ["abcdef", 0, ""],
  ["日本語", 6, "日本語"],
  ["日本語", 5, "日本…"],
  ["日本語", 4, "日…"],
  ["e\u0301e\u0301e\u0301", 3, "e\u0301e\u0301e\u0301"],
  ["👩‍👩‍👧x", 2, "…"],
  ["\u0007\u0007", 6, "\\u{7}…"],
])("%j is cut to %d columns between characters", (text, columns, cut) => {
  expect(textOf(cutLine(text, columns))).toBe(cut);
  expect(widthOf(cut)).toBeLessThanOrEqual(columns);
});

test("a line is cut in whichever piece goes over the edge, and keeps its colours before that", () => {
  const line = [{ text: "abc", style: "red" }, { text: "def", style: "green" }, "ghi"] as const;
  expect(cutLine(line, 9)).toHaveLength(3);
  expect(cutLine(line, 8).slice(0, 2)).toEqual(line.slice(0, 2));
  expect(textOf(cutLine(line, 8))).toBe("abcdefg…");
  expect(textOf(cutLine(line, 6))).toBe("abcde…");
  expect(textOf(cutLine(line, 3))).toBe("ab…");
});

test.each([
  ["realign_target_creator_ID0000054", 32, "realign_target_creator_ID0000054"],
  ["realign_target_creator_ID0000054", 26, "realign_targ…tor_ID0000054"],
  ["abcdef", 4, "a…ef"],
  ["日本語日本語", 7, "日…本語"],
  ["abc", 1, "…"],
])("%j is cut to %d columns in its middle, since names differ at their ends", (text, columns, cut) => {
  expect(cutMiddle(text, columns)).toBe(cut);
  expect(widthOf(cut)).toBeLessThanOrEqual(columns);
});
