/** Starts that break a rule are refused with node, rule and value, and dispatch nothing; the same start twice is one run. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { expect, it } from "vitest";
import { projectRoot } from "../../cli/local/workspace.ts";
import { runKey } from "../../shared/keys.ts";
import { type Refusal, refusalSchema } from "../../shared/model.ts";
import { expectSucceeded, newRunId, openProvider, openStack } from "../support/deployment.ts";
import { mentions } from "../support/fault-proxy.ts";
import { waitUntil } from "../support/processes.ts";
import { jsonLines, runWith } from "../unit/cli/program.ts";

const { environment, proxies, client, table, start, end, node, sendCommands, answer, rejected } =
  await openStack("main");
const provider = await openProvider();

/** The program in a process of its own, with nothing but what finds the stack. */
async function program(args: readonly string[], input: string) {
  const child = spawn(process.execPath, ["--import", "tsx", "cli/leasehold.ts", ...args], {
    cwd: projectRoot,
    env: { PATH: process.env.PATH, ...environment },
  });
  child.stdin.end(input);
  const [stdout, stderr, [exitCode]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "exit")]);
  return { stdout, stderr, exitCode: Number(exitCode) };
}

type Node = {
  readonly node_id: string;
  readonly tool?: string;
  readonly input?: unknown;
  readonly depends_on?: string[];
};
const named = (node_id: string, more: Partial<Node> = {}): Node => ({ node_id, tool: "ledger", ...more });

type Case = readonly [what: string, nodes: readonly Node[], refusal: Partial<Refusal>];
const manyNodes = Array.from({ length: 100 }, (_, place) => named(`n${place}`));
const long = "é".repeat(129);

/** A form that the client itself can judge is refused before it is sent, so these also go straight to the queue. */
const oddIds: readonly Case[] = [
  ["an empty id", [named("")], { rule: "must not be empty" }],
  ["a control character", [named("a\u0007")], { rule: expect.stringContaining("control") }],
  ["a noncharacter", [named("a\uffff")], { rule: expect.stringContaining("noncharacters") }],
  ["half of a surrogate pair", [named("a\ud800")], { rule: expect.stringMatching(/surrogate/) }],
  ["258 bytes of UTF-8", [named(long)], { rule: expect.stringContaining("256 bytes") }],
];

const brokenRules: readonly Case[] = [
  [
    "a cycle",
    [named("a", { depends_on: ["c"] }), named("b", { depends_on: ["a"] }), named("c", { depends_on: ["b"] })],
    { code: "cycle", node: "a", value: "a <- c <- b <- a" },
  ],
  ["a node that depends on itself", [named("a", { depends_on: ["a"] })], { code: "cycle", node: "a", value: "a <- a" }],
  [
    "an unknown dependency",
    [named("a"), named("b", { depends_on: ["ghost"] })],
    { code: "unknown_dependency", node: "b", field: "depends_on", value: "ghost" },
  ],
  ["a doubled node id", [named("a"), named("a")], { code: "duplicate_node", node: "a", value: "a" }],
  ["an unknown tool", [named("a", { tool: "teleport" })], { code: "unknown_tool", node: "a", value: "teleport" }],
  [
    "an input against the tool's schema",
    [named("a", { tool: "strict", input: { amount: -3 } })],
    { code: "bad_input", node: "a", field: "input.amount", value: "-3" },
  ],
  [
    "a $output of nothing",
    [named("a", { input: { from: { $output: "ghost" } } })],
    { code: "unknown_output", node: "a", field: "input", value: "ghost" },
  ],
  [
    "a $output that closes a cycle",
    [named("a", { input: { from: { $output: "b" } } }), named("b", { depends_on: ["a"] })],
    { code: "cycle", node: "a" },
  ],
  [
    "more nodes than one transaction holds",
    manyNodes,
    { code: "too_many_nodes", value: expect.stringContaining("100 nodes") },
  ],
];

async function expectNothingStarted(runId: string): Promise<void> {
  expect(await table.get(runKey(runId))).toBeUndefined();
  expect(await table.query(`RUN#${runId}`, "")).toEqual([]);
  expect(proxies.relay.calls.filter(mentions(runId))).toEqual([]);
}

it.each([...brokenRules, ...oddIds])(
  "submit of %s prints the node, the rule and the value, and nothing is dispatched",
  async (_, nodes, refusal) => {
    const runId = newRunId();
    const ran = await runWith(client, { nodes }, ["submit", "-", "--run-id", runId, "--json", "--timeout", "20"]);
    expect(ran).toMatchObject({ exitCode: 1, stderr: "" });
    const [printed] = jsonLines(ran.stdout);
    expect(printed).toMatchObject({ outcome: "refused", runId, rule: expect.stringMatching(/./), ...refusal });
    expect(printed).toHaveProperty("value");
    if (refusal.code !== "too_many_nodes") expect(printed).toHaveProperty("node");
    await expectNothingStarted(runId);
  },
);

it.each(oddIds)(
  "a start sent to the queue with %s as node id is refused, answered and kept",
  async (_, nodes, refusal) => {
    const runId = newRunId();
    const commandId = newRunId();
    const body = JSON.stringify({ type: "start_run", command_id: commandId, run_id: runId, nodes });
    await sendCommands(body.replaceAll("\uffff", "\\uffff"));
    const answered = await answer(commandId);
    expect(answered.outcome).toBe("refused");
    expect(refusalSchema.parse(JSON.parse(answered.refusal ?? ""))).toMatchObject({ rule: refusal.rule });
    await waitUntil(
      async () => (await rejected()).some((kept) => kept.body.includes(commandId) && kept.source === "commands"),
      10_000,
      "the command to be kept",
    );
    await expectNothingStarted(runId);
  },
);

it("submit prints a refusal for people with node, rule and value on lines of their own", async () => {
  const runId = newRunId();
  const ran = await runWith(client, { nodes: [named("a", { tool: "teleport" })] }, ["submit", "-", "--run-id", runId]);
  expect(ran.stderr).toMatch(/refused: run .*: unknown_tool\n {2}node: {2}a\n/);
  expect(ran.stderr).toMatch(/\n {2}rule: {2}must be one of ledger/);
  expect(ran.stderr).toMatch(/\n {2}value: teleport\n/);
});

it("the program itself finds the stack by its outputs, and prints the refusal as JSON", async () => {
  const graph = JSON.stringify({ nodes: [named("a"), named("a")] });
  const ran = await program(["submit", "-", "--run-id", newRunId(), "--json"], graph);
  expect(ran.exitCode).toBe(1);
  expect(jsonLines(ran.stdout)).toMatchObject([{ outcome: "refused", code: "duplicate_node", node: "a", value: "a" }]);
});

it("the program's submit and watch bring a run to its end and exit 0", async () => {
  const runId = newRunId();
  const submitted = await program(["submit", "-", "--run-id", runId], JSON.stringify({ nodes: [named("a")] }));
  expect(submitted).toMatchObject({ exitCode: 0, stdout: expect.stringContaining(`accepted: run ${runId}`) });
  expect(await program(["watch", runId], "")).toMatchObject({ exitCode: 0 });
});

it("ids with #, /, spaces and any script run from end to end, and ids that look alike stay apart", async () => {
  const runId = `${newRunId()}#/ шаг 😀`;
  const composed = "caf\u00e9";
  const decomposed = "cafe\u0301";
  const ids = ["a#b/c шаг 😀", "NODE#a", `${"x".repeat(256)}`, composed, decomposed, "__proto__"];
  await start(runId, [
    ...ids.map((nodeId) => ({ nodeId, tool: "ledger" })),
    { nodeId: "join", tool: "ledger", dependsOn: ids, input: { first: { $output: ids[0], pointer: "/ordinal" } } },
  ]);
  expectSucceeded(await end(runId));
  const called = provider.callsOfRun(runId).map((call) => call.nodeId);
  expect(called.slice(0, -1).sort()).toEqual([...ids].sort());
  expect(called.at(-1)).toBe("join");
  expect(provider.callsOfRun(runId).at(-1)?.body).toMatchObject({ input: { first: expect.any(Number) } });
});

const only = [{ nodeId: "only", tool: "ledger" }];

it("the same start sent again is the same run, and runs nothing a second time", async () => {
  const runId = newRunId();
  await start(runId, only);
  expectSucceeded(await end(runId));
  const again = await client.startRun({ runId, nodes: only });
  expect(await again.accepted({ timeoutMs: 10_000 })).toMatchObject({ changed: false, runStatus: "SUCCEEDED" });
  expect(provider.callsOfRun(runId)).toHaveLength(1);
});

it("the same start twice at the same instant makes one run, and both senders are told so", async () => {
  const runId = newRunId();
  const held = proxies.commands.on(
    { action: "TransactWriteItems", where: mentions(runId), nth: "always" },
    { hold: "before" },
  );
  const handles = await Promise.all([1, 2].map(() => client.startRun({ runId, nodes: only })));
  // Two tokens, since the SDK repeats a held call under its own.
  const tokens = () => new Set(held.strikes.map(({ call }) => Reflect.get(Object(call.body), "ClientRequestToken")));
  await waitUntil(() => tokens().size === 2, 10_000, "both starts to be at the table");
  await held.release();
  const answers = await Promise.all(handles.map((handle) => handle.accepted({ timeoutMs: 20_000 })));
  expect(answers.map(({ changed }) => changed).sort()).toEqual([false, true]);
  expectSucceeded(await end(runId));
  expect(provider.callsOfRun(runId)).toHaveLength(1);
  expect(await node(runId, "only")).toMatchObject({ epoch: 1, attempts_used: 1 });
});

it("the same run_id with other content is refused with that reason, and the run stays as it is", async () => {
  const runId = newRunId();
  await start(runId, only);
  const before = await end(runId);
  const other = await client.startRun({ runId, nodes: [{ nodeId: "other", tool: "ledger" }] });
  await expect(other.accepted({ timeoutMs: 10_000 })).rejects.toMatchObject({
    code: "run_id_taken",
    field: "run_id",
    value: runId,
  });
  expect(await client.getRun(runId)).toEqual(before);
});

it("a command_id that was used for another start starts nothing, and is kept with that reason", async () => {
  const commandId = newRunId();
  const [runId, otherId] = [newRunId(), newRunId()];
  await start(runId, only, { commandId });
  expectSucceeded(await end(runId));
  const first = await answer(commandId);

  const other = await client.startRun({ runId: otherId, commandId, nodes: only });
  await expect(other.accepted({ timeoutMs: 10_000 })).rejects.toMatchObject({ code: "command_id_reused" });
  await waitUntil(
    async () =>
      (await rejected()).some(({ body, reason }) => body.includes(otherId) && reason.includes("command_id_taken")),
    10_000,
    "the second command to be kept",
  );
  expect(await answer(commandId)).toEqual(first);
  await expectNothingStarted(otherId);
});

it("the same command delivered twice is answered once, and makes one run", async () => {
  const runId = newRunId();
  const commandId = newRunId();
  const body = JSON.stringify({
    type: "start_run",
    command_id: commandId,
    run_id: runId,
    nodes: [{ node_id: "only", tool: "ledger" }],
  });
  await sendCommands(body, body);
  expect(await answer(commandId)).toMatchObject({ outcome: "accepted", changed: true });
  expectSucceeded(await end(runId));
  expect(provider.callsOfRun(runId)).toHaveLength(1);
});
