/** How the bench writes what it has measured. */
import { describe, expect, test } from "vitest";
import { begins, ends, withReport } from "../../bench/report/document.ts";
import { chain } from "../../bench/report/graphs.ts";
import { countInMemory } from "../../bench/report/in-memory.ts";
import { rounded, table } from "../../bench/report/markdown-table.ts";
import { reportOf } from "../../bench/report/report.ts";
import { spreadOf } from "../../bench/report/spread.ts";

describe("a spread", () => {
  test("names numbers that were measured", () => {
    const hundred = Array.from({ length: 100 }, (_, place) => 100 - place);
    expect(spreadOf(hundred)).toEqual({ n: 100, min: 1, median: 50, p95: 95, max: 100 });
    expect(spreadOf([7])).toEqual({ n: 1, min: 7, median: 7, p95: 7, max: 7 });
  });

  test("of nothing is an error and no zero", () => {
    expect(() => spreadOf([])).toThrow("nothing was measured");
  });
});

describe("a page", () => {
  const page = `before\n\n${begins}\nold\n${ends}\n\nafter\n`;

  test("gets the report between its marks and keeps the rest", () => {
    const written = withReport(page, "new\n");
    expect(written).toBe(`before\n\n${begins}\n\nnew\n\n${ends}\n\nafter\n`);
    expect(withReport(written, "new\n")).toBe(written);
  });

  test.each([["no marks"], [`${begins} alone`], [`${ends} before ${begins}`], [page + page]])(
    "%j is refused",
    (wrong) => {
      expect(() => withReport(wrong, "new")).toThrow("each once");
    },
  );
});

test("a table has a line for its columns, the first of text", () => {
  expect(table(["what", "n"], [["a", 1]])).toBe("| what | n |\n| --- | --: |\n| a | 1 |");
  expect([rounded(1.005), rounded(2), rounded(0.128)]).toEqual(["1", "2", "0.13"]);
});

const machine = { date: "2026-12-01", cores: 2, node: "20.20.2", ministack: "1.5.33" };

test("counts are told per node, beside what the emulator saw, and as money", async () => {
  const counted = await countInMemory(chain);
  const ownLogBytes = { commands: 300, relay: 2_000, worker: 5_000, scanner: 0 };
  const graphs = [{ ...counted, deployed: { tallies: counted.tallies, ownLogBytes } }];
  const report = reportOf({ counts: { machine, result: { graphs } } });
  expect(report).toContain("| **write units** | 9.6 |");
  expect(report).toContain("| **write units** | 96 | 96 |");
  expect(report).toContain("| DynamoDB writes | $6.00 |");
  expect(report).toContain("commands 300 B, relay 200 B, worker 500 B an invocation");
  // A write unit, a read unit and a request, a million times.
  expect(report).toContain("| a heartbeat, each 10 s of a tool | $1.15 |");
});

test("what was not measured is not in the report, and each part says when and where it was", () => {
  const spread = spreadOf([10, 20, 30]);
  const report = reportOf({ init: { machine, result: { bare: spread, worker: spreadOf([40, 50, 60]) } } });
  expect(report).toContain("### Cold start\n\nMeasured 2026-12-01: 2 cores, Node 20.20.2, MiniStack 1.5.33.");
  expect(report).toContain("| worker | 40 | 50 | 60 | 60 | 3 |");
  expect(report).toContain("The worker takes 30 ms more");
  expect(report).not.toContain("Bundles");
});
