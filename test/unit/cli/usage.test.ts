import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { acceptsAll, deploymentOf } from "../client/deployment.ts";
import { graphPath, jsonLines, run, runWith } from "./program.ts";

const commandNames = "submit, status, watch, outputs, list, cancel, doubts, resolve, tools, dev, local";
const submitOptions = "--run-id, --default-tool, --deadline, --timeout, --json";
const said = ["--by", "ada", "--why", "x"];

test.each<[string, string[], string]>([
  ["an unknown command", ["purge"], `command must be one of ${commandNames}, got "purge"`],
  ["a misspelt command", ["sumbit"], `command must be one of ${commandNames}, got "sumbit" (did you mean submit?)`],
  ["help for an unknown command", ["help", "purge"], `command must be one of ${commandNames}, got "purge"`],
  [
    "help for two commands",
    ["help", "a", "b"],
    '[COMMAND] must be the only argument besides options, got "b" after it',
  ],
  [
    "an option before the command",
    ["--timeout", "3", "watch"],
    'command must be given before its options, got "--timeout"',
  ],
  ["a version with a value", ["--version=3"], '--version must stand alone, got the value "3"'],
  ["no file", ["submit"], "FILE must be given, got nothing"],
  ["an empty file name", ["submit", ""], 'FILE must be given, got ""'],
  ["two files", ["submit", "a", "b"], 'FILE must be the only argument besides options, got "b" after it'],
  ["no run", ["status"], "RUN must be given, got nothing"],
  ["an empty run", ["outputs", ""], 'RUN must be given, got ""'],
  ["an empty node", ["outputs", "r", ""], '[NODE] must be given, got ""'],
  ["two runs", ["cancel", "a", "b"], 'RUN must be the only argument besides options, got "b" after it'],
  ["two nodes", ["outputs", "r", "a", "b"], 'RUN [NODE] must be the only arguments besides options, got "b" after it'],
  ["a run to list", ["list", "r"], 'list must have no argument, got "r"'],
  ["two modules", ["tools", "a", "b"], '[FILE] must be the only argument besides options, got "b" after it'],
  ["nothing to develop", ["dev", "--once"], "TOOLS must be given, got nothing"],
  ["an unknown option", ["submit", "-", "--tool", "x"], `option must be one of ${submitOptions}, got "--tool"`],
  [
    "a misspelt option",
    ["submit", "-", "--timout", "3"],
    `option must be one of ${submitOptions}, got "--timout" (did you mean --timeout?)`,
  ],
  ["another command's option", ["status", "r", "--timeout", "1"], 'option must be one of --json, got "--timeout"'],
  ["the program's option behind a command", ["status", "r", "-V"], 'option must be one of --json, got "-V"'],
  [
    "an option of the object's prototype",
    ["status", "r", "--constructor"],
    'option must be one of --json, got "--constructor"',
  ],
  ["an unknown short option", ["status", "r", "-j"], 'option must be one of --json, got "-j"'],
  ["an option without its value", ["submit", "-", "--run-id"], "--run-id must have a value, got nothing"],
  ["an option with an empty value", ["submit", "-", "--run-id="], '--run-id must have a value, got ""'],
  [
    "an option that swallows the next",
    ["submit", "-", "--run-id", "--timeout"],
    '--run-id must have a value (one that begins with - as --run-id=VALUE), got "--timeout"',
  ],
  [
    "an option given twice",
    ["cancel", "r", "--reason", "a", "--reason", "b"],
    "--reason must be given at most once, got it twice",
  ],
  ["a flag given twice", ["watch", "r", "--plain", "--plain"], "--plain must be given at most once, got it twice"],
  ["a flag with a value", ["watch", "r", "--json=yes"], '--json must stand alone, got the value "yes"'],
  [
    "a deadline of words",
    ["submit", "-", "--deadline", "soon"],
    '--deadline must be a number of seconds from 0.001 to 31536000, got "soon"',
  ],
  [
    "a deadline of nothing",
    ["submit", "-", "--deadline", "0"],
    '--deadline must be a number of seconds from 0.001 to 31536000, got "0"',
  ],
  [
    "a deadline of ages",
    ["submit", "-", "--deadline", "99999999999"],
    '--deadline must be a number of seconds from 0.001 to 31536000, got "99999999999"',
  ],
  [
    "a negative timeout",
    ["watch", "r", "--timeout=-1"],
    '--timeout must be a number of seconds from 0 to 31536000, got "-1"',
  ],
  [
    "a timeout in another unit",
    ["cancel", "r", "--timeout", "5m"],
    '--timeout must be a number of seconds from 0 to 86400, got "5m"',
  ],
  [
    "a timeout in the engineer's way",
    ["cancel", "r", "--timeout", "1e3"],
    '--timeout must be a number of seconds from 0 to 86400, got "1e3"',
  ],
  ["a limit of none", ["list", "--limit", "0"], '--limit must be a whole number from 1 to 1000, got "0"'],
  [
    "a limit that is too high",
    ["list", "--limit", "1001"],
    '--limit must be a whole number from 1 to 1000, got "1001"',
  ],
  ["half a limit", ["list", "--limit", "1.5"], '--limit must be a whole number from 1 to 1000, got "1.5"'],
  [
    "an effect that nobody knows",
    ["resolve", "r", "n", "--failed", "--effect", "some", ...said],
    '--effect must be one of none, done, unknown, got "some"',
  ],
  [
    "an epoch of words",
    ["resolve", "r", "n", "--failed", "--epoch", "x", ...said],
    '--epoch must be a whole number, got "x"',
  ],
  [
    "tools beside an app",
    ["local", "--tools", "t.ts", "--app", "npx x"],
    '--tools must not stand beside --app, whose own code names its tools, got "npx x"',
  ],
  ["a context without a value", ["local", "-c", "a=1", "-c", "b"], '--context must be NAME=VALUE, got "b"'],
  ["a context without a name", ["local", "--context", "=1"], '--context must be NAME=VALUE, got "=1"'],
  [
    "a context that swallows the next",
    ["local", "-c", "--app"],
    '--context must have a value (one that begins with - as --context=VALUE), got "--app"',
  ],
  [
    "a file that is not there",
    ["submit", "/no/such.json"],
    "/no/such.json: must be a file that can be read, got no such file",
  ],
  ["a directory", ["submit", graphPath("")], `${graphPath("")}: must be a file that can be read, got a directory`],
  ["a module that is not there", ["tools", "/no/such.ts"], "/no/such.ts: must be a file of tools, got no such file"],
])("%s exits with 2 and says what was wrong", async (_, args, message) => {
  const { client, sent } = deploymentOf(acceptsAll);
  expect(await run(client, args)).toEqual({
    exitCode: 2,
    stdout: "",
    stderr: `leasehold: ${message}\nleasehold: --help shows how it is used\n`,
  });
  expect(sent).toEqual([]);
});

const oneNode = (node: object) => ({ nodes: [node] });

test.each<[string, unknown, string]>([
  ["an empty file", "", "standard input: must be JSON, got an empty file"],
  ["no JSON", "{ nodes: [] }", "standard input: must be JSON, got "],
  ["a list", [], 'standard input: the file must be an object { "nodes": [...] }, got []'],
  ["null", "null", 'the file must be an object { "nodes": [...] }, got null'],
  ["no nodes", {}, "nodes must be a list of at least one node, got nothing"],
  ["an empty list of nodes", { nodes: [] }, "nodes must be a list of at least one node, got []"],
  ["nodes by name", { nodes: { a: {} } }, 'nodes must be a list of at least one node, got {"a":{}}'],
  ["a run id that is a number", { run_id: 7, nodes: [{}] }, "run_id must be a string, got 7"],
  ["a command id that is null", { command_id: null, nodes: [{}] }, "command_id must be a string, got null"],
  ["a deadline in words", { deadline_ms: "1s", nodes: [{}] }, 'deadline_ms must be a number, got "1s"'],
  [
    "another command",
    { type: "cancel_run", nodes: [{}] },
    'type must be "start_run" where it is given, got "cancel_run"',
  ],
  [
    "a node that is a string",
    { nodes: ["a"] },
    'nodes[0] must be an object { "node_id", "tool", "input", "depends_on" }, got "a"',
  ],
  ["a node without id", oneNode({ tool: "noop" }), "nodes[0].node_id must be a string, got nothing"],
  [
    "a node without tool",
    oneNode({ node_id: "a" }),
    'node "a": tool must be given, here or for all by --default-tool, got nothing',
  ],
  ["a tool that is a list", oneNode({ node_id: "a", tool: ["noop"] }), 'node "a": tool must be a string, got ["noop"]'],
  [
    "a dependency that is no list",
    oneNode({ node_id: "a", tool: "noop", depends_on: "b" }),
    'node "a": depends_on must be a list of node ids, got "b"',
  ],
  [
    "a dependency that is a number",
    oneNode({ node_id: "a", tool: "noop", depends_on: [1] }),
    'node "a": depends_on must be a list of node ids, got [1]',
  ],
  [
    "a misspelt field",
    oneNode({ node_id: "a", tool: "noop", dependsOn: [] }),
    'node "a": each field must be one of node_id, tool, input, depends_on, got "dependsOn"',
  ],
])("a graph that is %s exits with 2 and says what was wrong", async (_, graph, message) => {
  const { client, sent } = deploymentOf(acceptsAll);
  const { exitCode, stdout, stderr } = await runWith(client, graph, ["submit", "-"]);
  expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
  expect(stderr).toContain(message);
  expect(sent).toEqual([]);
});

test.each<[string, object, string[], string[]]>([
  [
    "an odd node id",
    oneNode({ node_id: "a\u0007", tool: "noop" }),
    [],
    ["node:  a\\u{7}", "field: node_id", "control"],
  ],
  ["an odd tool name", oneNode({ node_id: "a", tool: "n p" }), [], ["node:  a", "field: tool", 'value: "n p"']],
  ["an odd default tool", oneNode({ node_id: "a" }), ["--default-tool", "n/p"], ["field: tool", 'value: "n/p"']],
  [
    "a run id that is too long",
    oneNode({ node_id: "a", tool: "t" }),
    ["--run-id", "x".repeat(257)],
    ["field: run_id", "256"],
  ],
])("%s is refused with 1, naming node, field, rule and value, and is not sent", async (_, graph, args, told) => {
  const { client, sent } = deploymentOf(acceptsAll);
  const { exitCode, stderr } = await runWith(client, graph, ["submit", "-", ...args]);
  expect(exitCode).toBe(1);
  for (const text of told) expect(stderr).toContain(text);
  expect(stderr).toMatch(/rule: {2}must /);
  expect(sent).toEqual([]);
});

test("an error about a file names the file", async () => {
  const folder = mkdtempSync(join(tmpdir(), "leasehold-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "graph.json");
  writeFileSync(path, '{"nodes":7}');
  const { stderr } = await run(deploymentOf().client, ["submit", path]);
  expect(stderr).toContain(`${path}: nodes must be a list of at least one node, got 7`);
});

test("with --json an error is one line of JSON on stderr", async () => {
  const { stdout, stderr } = await run(deploymentOf().client, ["status", "--json"]);
  expect(stdout).toBe("");
  expect(jsonLines(stderr)).toEqual([{ error: { code: "usage", message: "RUN must be given, got nothing" } }]);
});

test("no command at all prints the list of commands to stderr and exits with 2", async () => {
  const { exitCode, stdout, stderr } = await run(deploymentOf().client, []);
  expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
  expect(stderr).toMatch(/^Usage: leasehold COMMAND/);
});
