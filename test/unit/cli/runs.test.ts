import { expect, test } from "vitest";
import { answerItem, deploymentOf, nodeItem, refusesAll, runItem, startedAtMs } from "../client/deployment.ts";
import { jsonLines, run } from "./program.ts";

async function twoNodes() {
  const deployment = deploymentOf();
  await deployment.put(runItem({ node_count: 2 }));
  await deployment.put(nodeItem({ node_id: "buy", status: "READY", dependents: '[["mail",1]]' }));
  await deployment.put(nodeItem({ node_id: "mail", ordinal: 1, status: "PENDING" }));
  return deployment;
}

test("status shows the run and a line for each node", async () => {
  const { client, put } = await twoNodes();
  const error = '{"name":"Error","message":"no\\nstock"}';
  await put(nodeItem({ node_id: "buy", status: "FAILED", epoch: 2, attempts_used: 2, effect: "none", error }));
  const { exitCode, stdout } = await run(client, ["status", "run"]);
  expect(exitCode).toBe(0);
  expect(stdout).toBe(
    [
      "run run: RUNNING, 1 of 2 nodes ended",
      "created 2030-01-01T00:00:00.000Z, deadline 2030-01-01T01:00:00.000Z",
      "",
      "NODE  TOOL  STATUS   ATTEMPTS  EPOCH  EFFECT  ERROR",
      "buy   noop  FAILED   2/5       2      none    Error: no\\u{a}stock",
      "mail  noop  PENDING  0/5       0      -",
      "",
    ].join("\n"),
  );
});

test("with --json status prints the run as one line of JSON", async () => {
  const { client } = await twoNodes();
  const { exitCode, stdout } = await run(client, ["status", "--json", "run"]);
  expect(exitCode).toBe(0);
  expect(jsonLines(stdout)).toMatchObject([
    { runId: "run", status: "RUNNING", nodes: [{ nodeId: "buy" }, { nodeId: "mail", dependsOn: ["buy"] }] },
  ]);
});

test.each(["status", "watch"])("%s of a run that does not exist exits with 1 and names it", async (command) => {
  const { exitCode, stdout, stderr } = await run(deploymentOf().client, [command, "nobody"]);
  expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
  expect(stderr).toBe('leasehold: run must be one that was accepted and has not expired, got "nobody"\n');
});

async function runThatEnds(status: "SUCCEEDED" | "FAILED" | "CANCELLED") {
  const deployment = await twoNodes();
  const { put, after } = deployment;
  const ended = status === "SUCCEEDED" ? { status } : { status: "FAILED", effect: "unknown", error: '"lost"' };
  after(1_000, () => put(nodeItem({ node_id: "buy", status: "RUNNING", epoch: 1, attempts_used: 1 })));
  after(5_000, () => put(nodeItem({ node_id: "buy", epoch: 1, attempts_used: 1, ...ended })));
  after(9_000, async () => {
    await put(nodeItem({ node_id: "mail", ordinal: 1, status: status === "SUCCEEDED" ? status : "SKIPPED" }));
    await put(runItem({ node_count: 2, status, ended_at_ms: startedAtMs + 9_000 }));
  });
  return deployment;
}

test("watch prints only what changes, until the run has succeeded, and exits with 0", async () => {
  const { client } = await runThatEnds("SUCCEEDED");
  const { exitCode, stdout, stderr } = await run(client, ["watch", "run"]);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
  expect(stdout.split("\n")).toEqual([
    "run run: RUNNING, 0 of 2 nodes ended",
    "  buy: READY",
    "  buy: RUNNING (attempt 1 of 5)",
    "  buy: SUCCEEDED (attempt 1 of 5)",
    "  mail: SUCCEEDED",
    "run run: SUCCEEDED, 2 of 2 nodes ended, after 9 s",
    "",
  ]);
});

test.each(["FAILED", "CANCELLED"] as const)("watch of a run that ends %s exits with 1", async (status) => {
  const { client } = await runThatEnds(status);
  const { exitCode, stdout } = await run(client, ["watch", "run"]);
  expect(exitCode).toBe(1);
  expect(stdout).toContain("  buy: FAILED (attempt 1 of 5, effect unknown): lost\n  mail: SKIPPED\n");
  expect(stdout).toContain(`run run: ${status}, 2 of 2 nodes ended, after 9 s\n`);
});

test("with --json watch prints each change as a line of JSON, the ended run last", async () => {
  const { client } = await runThatEnds("SUCCEEDED");
  const { exitCode, stdout } = await run(client, ["watch", "run", "--json"]);
  expect(exitCode).toBe(0);
  expect(jsonLines(stdout)).toMatchObject([
    { event: "run", runId: "run", status: "RUNNING" },
    { event: "node", nodeId: "buy", status: "READY" },
    { event: "node", nodeId: "buy", status: "RUNNING" },
    { event: "node", nodeId: "buy", status: "SUCCEEDED" },
    { event: "node", nodeId: "mail", status: "SUCCEEDED" },
    { event: "end", run: { runId: "run", status: "SUCCEEDED", ended: true } },
  ]);
});

test("watch of a run that has ended before prints its end at once", async () => {
  const { client, put } = await twoNodes();
  await put(runItem({ status: "EXPIRED", ended_at_ms: startedAtMs }));
  const { exitCode, stdout } = await run(client, ["watch", "run"]);
  expect(exitCode).toBe(1);
  expect(stdout).toMatch(/run run: EXPIRED, .*\n$/);
});

test("a watch whose time is up exits with 1 and says that the run goes on", async () => {
  const { client } = await twoNodes();
  const { exitCode, stderr } = await run(client, ["watch", "run", "--timeout", "3"]);
  expect(exitCode).toBe(1);
  expect(stderr).toBe('leasehold: run "run" did not end within 3000 ms\n');
});

test("cancel sends the reason, waits for the answer and exits with 0", async () => {
  const { client, sent } = deploymentOf({
    onCommand: (command, { put }) => put(answerItem(command, { changed: true, run_status: "CANCELLING" })),
  });
  const { exitCode, stdout } = await run(client, ["cancel", "run", "--reason", "the customer called"]);
  expect({ exitCode, stdout }).toEqual({
    exitCode: 0,
    stdout: "accepted: run run is CANCELLING; nothing new starts, what runs is told\n",
  });
  expect(JSON.parse(sent[0] ?? "")).toMatchObject({ type: "cancel_run", reason: "the customer called" });
});

test("a cancel that comes too late says how the run had ended", async () => {
  const { client } = deploymentOf({
    onCommand: (command, { put }) => put(answerItem(command, { changed: false, run_status: "SUCCEEDED" })),
  });
  expect(await run(client, ["cancel", "run"])).toMatchObject({
    exitCode: 0,
    stdout: "nothing to cancel: run run was SUCCEEDED already\n",
  });
  const { stdout } = await run(client, ["cancel", "run", "--json"]);
  expect(jsonLines(stdout)).toMatchObject([{ outcome: "accepted", changed: false, runStatus: "SUCCEEDED" }]);
});

test("a cancel of a run that does not exist is refused with 1", async () => {
  const { client } = deploymentOf(refusesAll({ code: "unknown_run", field: "run_id", rule: "must be a run" }));
  const { exitCode, stderr } = await run(client, ["cancel", "run"]);
  expect(exitCode).toBe(1);
  expect(stderr).toBe("refused: run run: unknown_run\n  field: run_id\n  rule:  must be a run\n");
});

test("a run id that begins with a dash stands behind --", async () => {
  const { client, put } = deploymentOf();
  await put(runItem({ run_id: "--json" }));
  const { exitCode, stdout } = await run(client, ["status", "--", "--json"]);
  expect(exitCode).toBe(0);
  expect(stdout).toMatch(/^run --json: RUNNING/);
});
