import { describe, expect, test } from "vitest";
import type { Item } from "../../../shared/write.ts";
import { answerItem, deploymentOf, nodeItem, refusesAll, runItem, startedAtMs } from "../client/deployment.ts";
import { jsonLines, run } from "./program.ts";

const why = "the tool must not be run twice";
const doubt = JSON.stringify({ atMs: startedAtMs, why, attempt: 1, reconciles: 0 });
const inDoubt = (more: Item = {}) =>
  nodeItem({ node_id: "buy", status: "IN_DOUBT", epoch: 3, attempts_used: 1, doubt, ...more });
const accepts = (nodeStatus: string) =>
  deploymentOf({
    onCommand: (command, { put }) => put(answerItem(command, { changed: true, node_status: nodeStatus })),
  });

async function doubtful(deployment = deploymentOf()) {
  const { expires_at: _, pk, sk, ...item } = runItem({ node_count: 2, scan_shard: 7, scan_at_ms: startedAtMs });
  await deployment.put({ pk: String(pk), sk: String(sk), ...item });
  await deployment.put(inDoubt({ dependents: '[["mail",1]]' }));
  await deployment.put(nodeItem({ node_id: "mail", ordinal: 1, status: "PENDING" }));
  return deployment;
}
const byWhom = ["--by", "ada", "--why", "it is in the list"];

describe("doubts", () => {
  test.each([[[]], [["run"]]])("%j lists each with since, attempt, epoch and why", async (args) => {
    const { client } = await doubtful();
    const { exitCode, stdout } = await run(client, ["doubts", ...args]);
    expect(exitCode).toBe(0);
    expect(stdout).toBe(
      [
        "RUN  NODE  TOOL  SINCE                     ATTEMPT  EPOCH  WHY",
        `run  buy   noop  2030-01-01T00:00:00.000Z  1        3      ${why}`,
        "",
        "leasehold resolve RUN NODE says what became of one; --help shows how",
        "",
      ].join("\n"),
    );
  });

  test("with --json prints one line of JSON for each", async () => {
    const { client } = await doubtful();
    const { stdout } = await run(client, ["doubts", "--json"]);
    expect(jsonLines(stdout)).toEqual([
      {
        runId: "run",
        runStatus: "RUNNING",
        nodeId: "buy",
        tool: "noop",
        sinceMs: startedAtMs,
        why,
        attempt: 1,
        epoch: 3,
        reconciles: 0,
      },
    ]);
  });

  test("that are none exit with 0 and say so; with --json nothing is printed", async () => {
    const { client, put } = deploymentOf();
    await put(runItem());
    expect(await run(client, ["doubts"])).toMatchObject({ exitCode: 0, stdout: "no node is in doubt\n" });
    expect(await run(client, ["doubts", "run"])).toMatchObject({ stdout: "no node of run run is in doubt\n" });
    expect(await run(client, ["doubts", "--json"])).toMatchObject({ exitCode: 0, stdout: "" });
  });

  test("of a run that does not exist exit with 1", async () => {
    const { exitCode, stderr } = await run(deploymentOf().client, ["doubts", "nobody"]);
    expect(exitCode).toBe(1);
    expect(stderr).toContain('got "nobody"');
  });
});

describe("status", () => {
  test("says what the run waits for, and how to go on", async () => {
    const { client } = await doubtful();
    const { exitCode, stdout } = await run(client, ["status", "run"]);
    expect(exitCode).toBe(0);
    expect(stdout.split("\n").slice(3)).toEqual([
      "NODE  TOOL  STATUS    ATTEMPTS  EPOCH  EFFECT  ERROR",
      "buy   noop  IN_DOUBT  1/5       3      -",
      "mail  noop  PENDING   0/5       0      -",
      "",
      `run waits for buy: in doubt since 2030-01-01T00:00:00.000Z, attempt 1, epoch 3: ${why}`,
      "  leasehold resolve run buy (--succeeded --output JSON | --not-done | --failed) --by WHO --why TEXT",
      "",
    ]);
  });

  test("says how a doubt was resolved, and by whom", async () => {
    const { client, put } = await doubtful();
    const resolution = JSON.stringify({ resolution: "not_done", by: "ada", why: "no order", atMs: startedAtMs });
    await put(nodeItem({ node_id: "buy", epoch: 4, resolution }));
    const { stdout } = await run(client, ["status", "run"]);
    expect(stdout).toContain("buy was resolved as not_done by ada at 2030-01-01T00:00:00.000Z: no order\n");
    expect(stdout).not.toContain("waits for");
  });

  test("quotes an id for the shell, and shows how often reconcile was asked", async () => {
    const { client, put } = await doubtful();
    const asked = JSON.stringify({ atMs: startedAtMs, why, attempt: 1, reconciles: 10 });
    await put(inDoubt({ node_id: "it's; here", ordinal: 2, doubt: asked }));
    const { stdout } = await run(client, ["status", "run"]);
    expect(stdout).toContain("epoch 3, reconcile asked 10 times: ");
    expect(stdout).toContain("leasehold resolve run 'it'\\''s; here' (--succeeded");
  });

  test("shows an id that looks like an option, or steers a terminal, so that it may be pasted all the same", async () => {
    const { client, put } = await doubtful();
    await put(inDoubt({ node_id: "--json", ordinal: 2 }));
    await put(inDoubt({ node_id: "it's \\ \u202eback", ordinal: 3 }));
    const { stdout } = await run(client, ["status", "run"]);
    expect(stdout).toContain("--by WHO --why TEXT -- run --json\n");
    expect(stdout).toContain("leasehold resolve run $'it\\'s \\\\ \\u202eback' (--succeeded");
  });
});

async function resolvedLater() {
  const deployment = await doubtful();
  const { put } = deployment;
  await put(nodeItem({ node_id: "buy", status: "RUNNING", epoch: 3, attempts_used: 1 }));
  deployment.after(1_000, () => put(inDoubt()));
  deployment.after(60_000, () => put(nodeItem({ node_id: "buy", status: "SUCCEEDED", epoch: 3, attempts_used: 1 })));
  deployment.after(70_000, () =>
    put(runItem({ node_count: 2, status: "SUCCEEDED", ended_at_ms: startedAtMs + 70_000 })),
  );
  return deployment;
}

describe("watch", () => {
  test("says when a node goes IN_DOUBT and how to resolve it, once, and goes on until the run ends", async () => {
    const { client } = await resolvedLater();
    const { exitCode, stdout } = await run(client, ["watch", "run"]);
    expect(exitCode).toBe(0);
    expect(stdout.split("\n")).toEqual([
      "run run: RUNNING, 0 of 2 nodes ended",
      "  buy: RUNNING (attempt 1 of 5)",
      `  buy: IN_DOUBT (attempt 1 of 5): ${why}`,
      "  run waits: leasehold resolve run buy (--succeeded --output JSON | --not-done | --failed) --by WHO --why TEXT",
      "  buy: SUCCEEDED (attempt 1 of 5)",
      "run run: SUCCEEDED, 1 of 2 nodes ended, after 70 s",
      "",
    ]);
  });

  test("with --json prints the node with its doubt", async () => {
    const { client } = await resolvedLater();
    const { stdout } = await run(client, ["watch", "run", "--json"]);
    expect(jsonLines(stdout)).toContainEqual(
      expect.objectContaining({ event: "node", nodeId: "buy", doubt: expect.objectContaining({ epoch: 3, why }) }),
    );
  });
});

describe("resolve", () => {
  test("takes the epoch that is in doubt now, says so, and says what the node is then", async () => {
    const { client, sent } = await doubtful(accepts("SUCCEEDED"));
    const args = ["resolve", "run", "buy", "--succeeded", "--output", '{"code":"V-1"}', ...byWhom];
    const { exitCode, stdout } = await run(client, args);
    expect(exitCode).toBe(0);
    expect(stdout).toBe(
      [
        `buy is in doubt since 2030-01-01T00:00:00.000Z, attempt 1, epoch 3: ${why}`,
        "accepted: node buy of run run, in doubt at epoch 3, is SUCCEEDED",
        "",
      ].join("\n"),
    );
    expect(JSON.parse(sent[0] ?? "")).toMatchObject({
      type: "resolve_node",
      run_id: "run",
      node_id: "buy",
      epoch: 3,
      resolution: "succeeded",
      output: { code: "V-1" },
      by: "ada",
      why: "it is in the list",
    });
  });

  test.each<[string[], object]>([
    [["--not-done"], { resolution: "not_done" }],
    [["--failed"], { resolution: "failed" }],
    [["--failed", "--effect", "none"], { resolution: "failed", effect: "none" }],
    [["--succeeded", "--output=-1"], { resolution: "succeeded", output: -1 }],
    [["--succeeded", "--output", "null"], { resolution: "succeeded", output: null }],
  ])("%j with an epoch reads nothing before, and sends what was said", async (args, command) => {
    const { client, sent } = accepts("READY");
    const given = ["resolve", "run", "buy", ...args, ...byWhom, "--epoch", "9"];
    expect(await run(client, given)).toMatchObject({
      exitCode: 0,
      stdout:
        "accepted: node buy of run run, in doubt at epoch 9, is READY: it runs again, unless its run is cancelled or past its deadline\n",
    });
    expect(JSON.parse(sent[0] ?? "")).toMatchObject({ ...command, epoch: 9 });
  });

  test("with --json prints the answer alone, with the epoch that it was for", async () => {
    const { client } = await doubtful(accepts("READY"));
    const { stdout } = await run(client, ["resolve", "run", "buy", "--not-done", ...byWhom, "--json"]);
    expect(jsonLines(stdout)).toMatchObject([
      { outcome: "accepted", runId: "run", nodeId: "buy", epoch: 3, nodeStatus: "READY", changed: true },
    ]);
  });

  test.each<[string, string[], string]>([
    ["a node that is not in doubt", ["run", "mail"], 'node "mail" of run "run" must be in doubt, got PENDING'],
    ["a node that is not there", ["run", "x"], 'node "x" of run "run" must be in doubt, got no such node'],
    ["a run that is not there", ["nobody", "buy"], 'got "nobody"'],
  ])("of %s sends nothing and exits with 1", async (_name, place, message) => {
    const { client, sent } = await doubtful();
    const { exitCode, stderr } = await run(client, ["resolve", ...place, "--not-done", ...byWhom]);
    expect(exitCode).toBe(1);
    expect(stderr).toContain(message);
    expect(sent).toEqual([]);
  });

  test("that is refused shows field, rule and value, and exits with 1", async () => {
    const refusal = { code: "bad_output", node: "buy", field: "output", rule: "output.code: is missing", value: "{}" };
    const { client } = await doubtful(deploymentOf(refusesAll(refusal)));
    const args = ["resolve", "run", "buy", "--succeeded", "--output", "{}", ...byWhom];
    const { exitCode, stderr } = await run(client, args);
    expect(exitCode).toBe(1);
    expect(stderr).toBe(
      "refused: run run: bad_output\n  node:  buy\n  field: output\n  rule:  output.code: is missing\n  value: {}\n",
    );
  });

  const said = ["resolve", "run", "buy"];
  test.each<[string, string[], string]>([
    ["no run", ["resolve"], "RUN must be given, got nothing"],
    ["no node", ["resolve", "run", "--not-done"], "NODE must be given, got nothing"],
    ["a third argument", [...said, "x"], 'RUN NODE must be the only arguments besides options, got "x" after it'],
    ["nothing said", [...said, ...byWhom], "exactly one of --succeeded, --not-done, --failed must be given, got none"],
    ["two things said", [...said, "--failed", "--not-done", ...byWhom], "got --not-done and --failed"],
    ["a success without its output", [...said, "--succeeded", ...byWhom], "--output must be given, got nothing"],
    ["an output that is no JSON", [...said, "--succeeded", "--output", "V-1", ...byWhom], "--output must be JSON"],
    ["an output without a success", [...said, "--failed", "--output", "1", ...byWhom], "with --succeeded only"],
    ["an effect without a failure", [...said, "--not-done", "--effect", "none", ...byWhom], "with --failed only"],
    [
      "an unknown effect",
      [...said, "--failed", "--effect", "some", ...byWhom],
      '--effect must be one of none, done, unknown, got "some"',
    ],
    ["nobody", [...said, "--not-done", "--why", "x"], "--by must be given, got nothing"],
    ["no grounds", [...said, "--not-done", "--by", "x"], "--why must be given, got nothing"],
    ["an epoch of words", [...said, "--not-done", ...byWhom, "--epoch", "last"], "--epoch must be a whole number"],
    ["two runs to list", ["doubts", "a", "b"], '[RUN] must be the only argument besides options, got "b" after it'],
    ["an empty run to list", ["doubts", ""], '[RUN] must be given, got ""'],
  ])("with %s exits with 2 and sends nothing", async (_name, args, message) => {
    const { client, sent } = await doubtful();
    const { exitCode, stderr } = await run(client, args);
    expect(exitCode).toBe(2);
    expect(stderr).toContain(message);
    expect(sent).toEqual([]);
  });
});
