import { describe, expect, test } from "vitest";
import { durationText } from "../../../cli/duration.ts";
import { fitted } from "../../../cli/fit-sections.ts";
import { textOf } from "../../../cli/line.ts";
import { livePicture } from "../../../cli/live-picture.ts";
import { type SeenSince, seenSince } from "../../../cli/seen-since.ts";
import { widthOf } from "../../../cli/text-width.ts";
import type { NodeView, RunView } from "../../../client/index.ts";

const createdAtMs = Date.UTC(2030, 0, 1);
const nowMs = createdAtMs + 12_000;

const node = (nodeId: string, more: Partial<NodeView> = {}): NodeView => ({
  nodeId,
  tool: "noop",
  status: "PENDING",
  attempts: 0,
  maxAttempts: 5,
  epoch: 0,
  dependsOn: [],
  ...more,
});
const running = (nodeId: string, more: Partial<NodeView> = {}) =>
  node(nodeId, { status: "RUNNING", attempts: 1, epoch: 1, ...more });
const succeeded = (nodeId: string, endedAtMs: number) =>
  node(nodeId, { status: "SUCCEEDED", attempts: 1, epoch: 1, endedAtMs });

const runOf = (nodes: readonly NodeView[], more: Partial<RunView> = {}): RunView => ({
  runId: "order-17",
  status: "RUNNING",
  ended: false,
  createdAtMs,
  deadlineAtMs: createdAtMs + 3_600_000,
  nodes,
  ...more,
});

type Shape = { readonly columns?: number; readonly rows?: number; readonly seen?: SeenSince };
const picture = (run: RunView, { columns = 80, rows = 24, seen = new Map() }: Shape = {}): readonly string[] =>
  livePicture({ run, seen, nowMs, columns, rows }).map(textOf);

const doubt = { sinceMs: createdAtMs + 2_000, why: "nobody can look it up", attempt: 1, epoch: 3, reconciles: 0 };
const all = [
  succeeded("first", createdAtMs + 1_000),
  succeeded("second", createdAtMs + 9_000),
  node("buy", { status: "IN_DOUBT", attempts: 1, epoch: 3, doubt }),
  running("mail", { tool: "send-mail", attempts: 2, epoch: 2 }),
  node("save", {
    status: "READY",
    attempts: 1,
    notBeforeMs: nowMs + 8_000,
    epoch: 1,
    error: { name: "Error", message: "busy" },
  }),
  node("book", { status: "FAILED", attempts: 5, epoch: 5, error: { name: "Error", message: "no\nroom" } }),
  node("log"),
];

describe("the picture of a run", () => {
  test("shows counts, progress, and each node that matters, the most urgent first", () => {
    const before = seenSince(undefined, runOf([node("mail", { status: "READY" })]), createdAtMs);
    const seen = seenSince(before, runOf(all), nowMs - 3_000);
    expect(picture(runOf(all), { columns: 120, rows: 40, seen })).toEqual([
      "run order-17: RUNNING, 3 of 7 nodes ended, for 12 s, deadline in 59 min 48 s",
      `${"█".repeat(27)}${"×".repeat(13)}${"?".repeat(14)}${"▒".repeat(13)}${"░".repeat(27)}  42 %`,
      "1 PENDING  1 READY  1 RUNNING  1 IN_DOUBT  2 SUCCEEDED  1 FAILED",
      "",
      "in doubt: the run waits until it is said what became of each (1)",
      "  buy  noop  attempt 1, epoch 3  for 10 s  nobody can look it up",
      "    leasehold resolve order-17 buy (--succeeded --output JSON | --not-done | --failed) --by WHO --why TEXT",
      "",
      "failed (1)",
      "  book  FAILED  attempt 5 of 5  Error: no\\u{a}room",
      "",
      "running (1)",
      "  mail  send-mail  attempt 2 of 5  for 3 s",
      "",
      "waiting for a retry (1)",
      "  save  noop  attempt 2 of 5 is next  in 8 s  Error: busy",
      "",
      "ended last (2)",
      "  second  SUCCEEDED  attempt 1 of 5  3 s ago",
      "  first   SUCCEEDED  attempt 1 of 5  11 s ago",
    ]);
  });

  test("of a run that has ended says how it ended and how long it took", () => {
    const nodes = [succeeded("a", nowMs), succeeded("b", nowMs)];
    const run = runOf(nodes, { status: "SUCCEEDED", ended: true, endedAtMs: nowMs });
    expect(picture(run, { columns: 16 }).slice(0, 3)).toEqual([
      "run order-17: S…",
      `${"█".repeat(10)} 100 %`,
      "2 SUCCEEDED",
    ]);
    expect(picture(run)[0]).toBe("run order-17: SUCCEEDED, 2 of 2 nodes ended, after 12 s");
  });

  test("shows 100 % only when every node has ended, and a deadline that has passed", () => {
    const nodes = [...Array.from({ length: 299 }, (_, place) => succeeded(`n${place}`, nowMs)), running("last")];
    const [first = "", second = ""] = picture(runOf(nodes, { deadlineAtMs: nowMs }));
    expect(second).toMatch(/ 99 %$/);
    expect(first).toMatch(/, deadline passed$/);
  });

  test("says of a node that was running at the first look that it may have run for longer", () => {
    const run = runOf([running("a")]);
    const seen = seenSince(undefined, run, nowMs - 65_000);
    expect(picture(run, { seen }).at(-1)).toBe("  a  noop  attempt 1 of 5  for 1 min 5 s or longer");
  });

  const many = Array.from({ length: 97 }, (_, place) => {
    const name = `node-${String(place).padStart(3, "0")}`;
    if (place < 40) return succeeded(name, createdAtMs + place);
    if (place < 60) return running(name);
    return place < 70 ? node(name, { status: "READY", attempts: 1 }) : node(name);
  });

  test("with 97 nodes leaves a row below it, and says how many it leaves out", () => {
    const lines = picture(runOf(many));
    expect(lines).toHaveLength(23);
    expect(lines.filter((line) => line.endsWith(")"))).toEqual([
      "running (5 of 20)",
      "waiting for a retry (5 of 10)",
      "ended last (4 of 40)",
    ]);
    expect(lines[lines.indexOf("ended last (4 of 40)") + 1]).toContain("node-039");
  });

  const odd = [...many, ...all, running("日本語".repeat(30)), running("x".repeat(256)), running("\u001b[2J\u0007")];
  test.each([
    [20, 4],
    [30, 6],
    [40, 10],
    [80, 24],
    [200, 60],
    [1, 1],
  ])("never breaks a line nor scrolls on a terminal of %d columns and %d rows", (columns, rows) => {
    const lines = picture(runOf(odd), { columns, rows });
    expect(lines.length).toBeLessThanOrEqual(Math.max(rows - 1, 1));
    for (const line of lines) {
      expect(widthOf(line)).toBeLessThanOrEqual(columns);
      expect(line).not.toMatch(/\p{Cc}/u);
    }
    expect(lines[0]).toMatch(columns === 1 ? "…" : /^run order-17: /);
  });

  test("where there is room for few lines keeps what waits for a person", () => {
    const lines = picture(runOf(odd), { rows: 8 });
    expect(lines.join("\n")).toContain("in doubt");
    expect(lines.join("\n")).not.toContain("ended last");
  });
});

test("sections give way from the least urgent on, an item of several lines as a whole", () => {
  const sections = [
    { title: "one", items: [["a", "a2"]] },
    { title: "none", items: [] },
    { title: "two", items: [["b"], ["c"]] },
  ];
  const shown = (room: number) => fitted(sections, room).map(textOf);
  expect(shown(8)).toEqual(["", "one (1)", "a", "a2", "", "two (2)", "b", "c"]);
  expect(shown(7)).toEqual(["", "one (1)", "a", "a2", "", "two (1 of 2)", "b"]);
  expect(shown(6)).toEqual(["", "one (1)", "a", "a2", "", "two (2)"]);
  expect(shown(5)).toEqual(["", "one (1)", "", "two (2)"]);
  expect(shown(3)).toEqual(["", "one (1)"]);
  expect(shown(1)).toEqual([]);
});

describe("what was seen", () => {
  test("counts from the claim on, anew for each, and from nothing else that changes", () => {
    const first = seenSince(undefined, runOf([node("a", { status: "READY" })]), 0);
    const claimed = seenSince(first, runOf([running("a")]), 1_000);
    const renewed = seenSince(claimed, runOf([running("a", { attempts: 7 })]), 2_000);
    const again = seenSince(renewed, runOf([running("a", { epoch: 2 })]), 3_000);
    expect(renewed.get("a")).toMatchObject({ sinceMs: 1_000, atFirst: false });
    expect(again.get("a")).toMatchObject({ sinceMs: 3_000, atFirst: false });
  });

  test("of a node that appears later is known from then on", () => {
    const before = seenSince(new Map(), runOf([running("a")]), 5_000);
    expect(before.get("a")).toMatchObject({ sinceMs: 5_000, atFirst: false });
  });
});

test.each([
  [-5_000, "0 s"],
  [999, "0 s"],
  [59_999, "59 s"],
  [60_000, "1 min"],
  [61_000, "1 min 1 s"],
  [3_600_000, "1 h"],
  [3_605_000, "1 h"],
  [3_660_000, "1 h 1 min"],
  [90_061_000, "1 d 1 h"],
])("%d ms are told as %s", (ms, text) => {
  expect(durationText(ms)).toBe(text);
});
