import { expect, test } from "vitest";
import { unpainted } from "../../../cli/line.ts";
import { repainter } from "../../../cli/repaint.ts";
import { deploymentOf, nodeItem, runItem, startedAtMs } from "../client/deployment.ts";
import { jsonLines, run } from "./program.ts";
import { terminal } from "./terminal.ts";

function goingOn() {
  const deployment = deploymentOf();
  const { put, after } = deployment;
  const buy = (more: object) => put(nodeItem({ node_id: "buy", epoch: 1, attempts_used: 1, ...more }));
  after(1_000, () => buy({ status: "RUNNING" }));
  after(5_000, () => buy({ status: "SUCCEEDED", ended_at_ms: startedAtMs + 5_000 }));
  after(6_000, () => put(runItem({ status: "SUCCEEDED", ended_at_ms: startedAtMs + 6_000 })));
  return put(runItem()).then(() => put(nodeItem({ node_id: "buy" })).then(() => deployment));
}

test("on a terminal a watch draws one picture over the other, and the last one stays", async () => {
  const { client, elapsedMs } = await goingOn();
  const stdout = terminal(60, 20);
  const { exitCode, stderr } = await run(client, ["watch", "run"], { stdout, nowMs: () => startedAtMs + elapsedMs() });
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
  expect(stdout.written()).toContain("  buy  noop  attempt 1 of 5  for 0 s");
  expect(stdout.screen()).toEqual([
    "run run: SUCCEEDED, 1 of 1 nodes ended, after 6 s",
    `${"█".repeat(54)} 100 %`,
    "1 SUCCEEDED",
    "",
    "ended last (1)",
    expect.stringMatching(/^ {2}buy {2}SUCCEEDED {2}attempt 1 of 5 {2}\d s ago$/),
  ]);
});

test("NO_COLOR takes the colours, not the picture", async () => {
  const { client } = await goingOn();
  const stdout = terminal();
  await run(client, ["watch", "run"], { stdout, environment: { NO_COLOR: "1" } });
  expect(stdout.screen()[1]).toContain("█");
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colours are made of them
  expect(stdout.written()).not.toMatch(/\u001b\[[\d;]*m/);
});

const lines =
  /^run run: RUNNING, 0 of 1 nodes ended\n {2}buy: READY\n {2}buy: RUNNING .*\n {2}buy: SUCCEEDED .*\nrun run: SUCCEEDED/;
test.each<[string, string[], boolean, Record<string, string>]>([
  ["without a terminal", [], false, {}],
  ["with --plain", ["--plain"], true, { NO_COLOR: "1" }],
  ["on a terminal that cannot be drawn over", [], true, { TERM: "dumb" }],
])("%s a watch prints plain lines", async (_, args, isTTY, environment) => {
  const { client } = await goingOn();
  const stdout = Object.assign(terminal(), { isTTY });
  expect(await run(client, ["watch", "run", ...args], { stdout, environment })).toMatchObject({ exitCode: 0 });
  expect(stdout.written()).toMatch(lines);
});

test("with --json a watch on a terminal prints lines of JSON", async () => {
  const { client } = await goingOn();
  const stdout = terminal();
  await run(client, ["watch", "run", "--json"], { stdout });
  expect(jsonLines(stdout.written())).toHaveLength(5);
});

test("a watch whose time is up leaves the picture and says so", async () => {
  const { client, put } = deploymentOf();
  await put(runItem());
  const stdout = terminal();
  const { exitCode, stderr } = await run(client, ["watch", "run", "--timeout", "3"], { stdout });
  expect(exitCode).toBe(1);
  expect(stderr).toBe('leasehold: run "run" did not end within 3000 ms\n');
  expect(stdout.screen()[0]).toMatch(/^run run: RUNNING/);
});

test("what stood above the picture stays, and a shorter picture leaves nothing of a longer one", () => {
  const output = terminal(20, 10);
  output.write("$ leasehold watch\n");
  const repaint = repainter(output, unpainted);
  repaint(["one", "two", "three"]);
  repaint(["eins"]);
  repaint(["uno", "due"]);
  expect(output.screen()).toEqual(["$ leasehold watch", "uno", "due"]);
});

test("a picture as high as the terminal can hold is drawn over where it stands", () => {
  const output = terminal(20, 4);
  for (let line = 0; line < 10; line += 1) output.write(`before ${line}\n`);
  const repaint = repainter(output, unpainted);
  for (const word of ["a", "b", "c"]) repaint([`${word}1`, `${word}2`, `${word}3`]);
  expect(output.screen().slice(-4)).toEqual(["before 9", "c1", "c2", "c3"]);
});

test("on a terminal that was made narrower the broken lines are counted as it shows them", () => {
  const output = terminal(20, 10);
  const repaint = repainter(output, unpainted);
  repaint(["x".repeat(20), "y"]);
  output.columns = 10;
  const before = output.written().length;
  repaint(["z"]);
  expect(output.written().slice(before).startsWith("\u001b[3F")).toBe(true);
});
