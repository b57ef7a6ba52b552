import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { startRunSchema } from "../../../shared/model.ts";
import { acceptsAll, answerItem, deploymentOf, refusesAll } from "../client/deployment.ts";
import { graphPath, jsonLines, run, runWith } from "./program.ts";

const graph = { run_id: "order-17", nodes: [{ node_id: "a", tool: "noop", input: { n: 1 } }] };

test("an accepted start prints one line and exits with 0", async () => {
  const { client } = deploymentOf(acceptsAll);
  expect(await runWith(client, graph, ["submit", "-"])).toEqual({
    exitCode: 0,
    stdout: "accepted: run order-17, 1 node\n",
    stderr: "",
  });
});

test("with --json an accepted start prints one line of JSON", async () => {
  const { client } = deploymentOf(acceptsAll);
  const { exitCode, stdout, stderr } = await runWith(client, graph, ["submit", "-", "--json"]);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
  expect(jsonLines(stdout)).toEqual([
    { outcome: "accepted", runId: "order-17", commandId: expect.any(String), changed: true },
  ]);
});

test("a start that was there already says so", async () => {
  const { client } = deploymentOf({
    onCommand: (command, { put }) => put(answerItem(command, { changed: false, run_status: "SUCCEEDED" })),
  });
  const { exitCode, stdout } = await runWith(client, graph, ["submit", "-"]);
  expect(exitCode).toBe(0);
  expect(stdout).toBe("accepted: run order-17, 1 node, SUCCEEDED (it was there already)\n");
});

test.each([
  ["helloworld-chain-5-chameleon.json", 5],
  ["helloworld-forkjoin-10-chameleon.json", 10],
  ["srasearch-chameleon-10a-005.json", 22],
])("the graph %s is submitted as it is, its nodes with the default tool", async (name, count) => {
  const { client, sent } = deploymentOf(acceptsAll);
  const path = graphPath(name);
  const { exitCode, stdout } = await run(client, ["submit", path, "--default-tool", "noop", "--run-id", "g"]);
  expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: `accepted: run g, ${count} nodes\n` });
  const command = startRunSchema.parse(JSON.parse(sent[0] ?? ""));
  const { nodes } = JSON.parse(readFileSync(path, "utf8"));
  expect(command.nodes.map(({ node_id, depends_on }) => ({ node_id, depends_on }))).toEqual(nodes);
  expect(new Set(command.nodes.map((node) => node.tool))).toEqual(new Set(["noop"]));
});

test("options win over what the file says, and the file's own fields are sent", async () => {
  const { client, sent } = deploymentOf(acceptsAll);
  const file = { ...graph, type: "start_run", command_id: "c", deadline_ms: 1_000 };
  await runWith(client, file, ["submit", "-"]);
  await runWith(client, file, ["submit", "-", "--run-id=other", "--deadline", "1.5", "--default-tool", "sleep"]);
  const [plain, changed] = sent.map((body) => startRunSchema.parse(JSON.parse(body)));
  expect(plain).toMatchObject({ run_id: "order-17", command_id: "c", deadline_ms: 1_000 });
  expect(changed).toMatchObject({ run_id: "other", command_id: "c", deadline_ms: 1_500 });
  expect(changed?.nodes[0]?.tool).toBe("noop");
});

test("a file that begins with a byte order mark is read like one without", async () => {
  const { client } = deploymentOf(acceptsAll);
  const { exitCode } = await runWith(client, `\uFEFF${JSON.stringify(graph)}`, ["submit", "-"]);
  expect(exitCode).toBe(0);
});

const refusal = { code: "unknown_tool", node: "a", field: "tool", rule: "must be a known tool", value: "nope" };

test("a refused start prints node, field, rule and value and exits with 1", async () => {
  const { client } = deploymentOf(refusesAll(refusal));
  expect(await runWith(client, graph, ["submit", "-"])).toEqual({
    exitCode: 1,
    stdout: "",
    stderr: [
      "refused: run order-17: unknown_tool",
      "  node:  a",
      "  field: tool",
      "  rule:  must be a known tool",
      "  value: nope",
      "",
    ].join("\n"),
  });
});

test("with --json a refused start prints its refusal as one line of JSON", async () => {
  const { client } = deploymentOf(refusesAll(refusal));
  const { exitCode, stdout, stderr } = await runWith(client, graph, ["submit", "-", "--json"]);
  expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: "" });
  expect(jsonLines(stdout)).toEqual([
    { outcome: "refused", runId: "order-17", commandId: expect.any(String), ...refusal },
  ]);
});

test("a refusal that would steer the terminal is printed harmless", async () => {
  const { client } = deploymentOf(refusesAll({ ...refusal, value: "\u001b[2J\nok\u202e" }));
  const { stderr } = await runWith(client, graph, ["submit", "-"]);
  expect(stderr).toContain("  value: \\u{1b}[2J\\u{a}ok\\u{202e}\n");
});

test("a start that nobody answers exits with 1 and names the command that was sent", async () => {
  const { client, sent } = deploymentOf();
  const { exitCode, stderr } = await runWith(client, graph, ["submit", "-", "--timeout", "2"]);
  expect(exitCode).toBe(1);
  expect(sent).toHaveLength(1);
  expect(stderr).toMatch(/^leasehold: start_run of run "order-17", command "id-1", was sent .* within 2000 ms\n$/);
});

test("Ctrl-C ends a wait with 130 and no word", async () => {
  const { client } = deploymentOf({ silent: true });
  const interruption = new AbortController();
  const ran = run(client, ["submit", "-"], {
    readInput: async () => JSON.stringify(graph),
    signal: interruption.signal,
  });
  interruption.abort();
  expect(await ran).toEqual({ exitCode: 130, stdout: "", stderr: "" });
});

test("Ctrl-C does not wait for the end of standard input", async () => {
  const interruption = new AbortController();
  const readInput = () => new Promise<never>(() => {});
  const ran = run(deploymentOf().client, ["submit", "-"], { readInput, signal: interruption.signal });
  interruption.abort();
  expect(await ran).toEqual({ exitCode: 130, stdout: "", stderr: "" });
});
