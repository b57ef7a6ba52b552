import { expect, test } from "vitest";
import { clientOver } from "../../../client/client.ts";
import { isClientError, isRefused, isStartRefused } from "../../../client/index.ts";
import { systemClock } from "../../../shared/adapters/clock.ts";
import { commandKey, hashOf } from "../../../shared/keys.ts";
import { fixed } from "../../../shared/limits.ts";
import { startRunSchema } from "../../../shared/model.ts";
import { thrownBy } from "../../support/thrown-by.ts";
import { acceptsAll, answerItem, deploymentOf, refusesAll, startedAtMs } from "./deployment.ts";

const oneNode = { nodes: [{ nodeId: "a", tool: "noop" }] };

test("a start is sent as the command that the deployment reads, in ASCII only", async () => {
  const { client, sent } = deploymentOf();
  await client.startRun({
    runId: "заказ-17 🎁",
    commandId: "c",
    deadlineMs: 5_000,
    nodes: [
      { nodeId: "buy", tool: "buy", input: { name: "Zoë" } },
      { nodeId: "mail", tool: "mail", dependsOn: ["buy"] },
    ],
  });
  expect(sent).toHaveLength(1);
  expect(sent[0]).toMatch(/^[\x20-\x7e]*$/);
  expect(startRunSchema.parse(JSON.parse(sent[0] ?? ""))).toEqual({
    type: "start_run",
    command_id: "c",
    run_id: "заказ-17 🎁",
    deadline_ms: 5_000,
    nodes: [
      { node_id: "buy", tool: "buy", input: { name: "Zoë" }, depends_on: [] },
      { node_id: "mail", tool: "mail", input: {}, depends_on: ["buy"] },
    ],
  });
});

test("a start without ids gets fresh ones, which the handle names", async () => {
  const { client, sent } = deploymentOf();
  const first = await client.startRun(oneNode);
  const second = await client.startRun(oneNode);
  expect(new Set([first.runId, first.commandId, second.runId, second.commandId]).size).toBe(4);
  expect(JSON.parse(sent[1] ?? "")).toMatchObject({ run_id: second.runId, command_id: second.commandId });
});

test("an accepted start resolves with what the deployment answered", async () => {
  const { client } = deploymentOf(acceptsAll);
  const handle = await client.startRun({ ...oneNode, runId: "r" });
  expect(await handle.accepted()).toEqual({ runId: "r", commandId: handle.commandId, changed: true });
});

test("an answer that comes late is found by looking again, at growing intervals", async () => {
  const deployment = deploymentOf();
  const handle = await deployment.client.startRun({ ...oneNode, runId: "r" });
  const command = { type: "start_run", run_id: "r", command_id: handle.commandId };
  deployment.after(5_000, () => deployment.put(answerItem(command, { changed: false, run_status: "SUCCEEDED" })));
  expect(await handle.accepted({ timeoutMs: 60_000 })).toMatchObject({ changed: false, runStatus: "SUCCEEDED" });
  expect(deployment.elapsedMs()).toBeGreaterThanOrEqual(5_000);
  expect(deployment.elapsedMs()).toBeLessThanOrEqual(6_000);
});

test("a refused start throws an error with the refusal's code, node, field, rule and value", async () => {
  const refusal = { code: "unknown_tool", node: "a", field: "tool", rule: "must be a known tool", value: "nope" };
  const { client } = deploymentOf(refusesAll(refusal));
  const handle = await client.startRun({ ...oneNode, runId: "r" });
  const error = await thrownBy(() => handle.accepted());
  expect(isRefused(error)).toBe(true);
  expect(isStartRefused(error)).toBe(true);
  expect(error).toMatchObject({ name: "StartRefusedError", ...refusal, runId: "r", commandId: handle.commandId });
  expect(String(error)).toContain("node a, tool: must be a known tool, got nope");
});

test("a refused cancel is told apart from a refused start by its name", async () => {
  const { client } = deploymentOf(refusesAll({ code: "unknown_run", rule: "must be a run" }));
  const handle = await client.cancelRun("r");
  const error = await thrownBy(() => handle.accepted());
  expect(error).toMatchObject({ name: "CancelRefusedError", code: "unknown_run" });
  expect([isRefused(error), isStartRefused(error)]).toEqual([true, false]);
});

test("a cancel of a run that has ended says that nothing changed, and how it ended", async () => {
  const { client, sent } = deploymentOf({
    onCommand: (command, { put }) => put(answerItem(command, { changed: false, run_status: "SUCCEEDED" })),
  });
  const handle = await client.cancelRun("r", { reason: "too late" });
  expect(await handle.accepted()).toMatchObject({ changed: false, runStatus: "SUCCEEDED" });
  expect(JSON.parse(sent[0] ?? "")).toMatchObject({ type: "cancel_run", run_id: "r", reason: "too late" });
});

test("without an answer the wait ends at its time, and may be taken up again", async () => {
  const deployment = deploymentOf();
  const handle = await deployment.client.startRun({ ...oneNode, runId: "r", commandId: "c" });
  const error = await thrownBy(() => handle.accepted({ timeoutMs: 2_000 }));
  expect(isClientError(error)).toBe(true);
  expect(error).toMatchObject({ code: "timed_out" });
  expect(String(error)).toContain('start_run of run "r", command "c", was sent but not answered within 2000 ms');
  expect(deployment.elapsedMs()).toBe(2_000);
  await deployment.put(answerItem(JSON.parse(deployment.sent[0] ?? "")));
  expect(await handle.accepted({ timeoutMs: 0 })).toMatchObject({ changed: true });
});

test.each([-1, Number.NaN])("a timeout of %s is refused by name", async (timeoutMs) => {
  const handle = await deploymentOf().client.startRun(oneNode);
  const error = await thrownBy(() => handle.accepted({ timeoutMs }));
  expect(error).toMatchObject({ code: "invalid_option", message: expect.stringContaining(`timeoutMs`) });
});

test("an aborted signal ends a wait with its reason, even while a read hangs", async () => {
  const { client } = deploymentOf({ silent: true });
  const handle = await client.startRun(oneNode);
  const abort = new AbortController();
  const thrown = thrownBy(() => handle.accepted({ signal: abort.signal }));
  abort.abort("enough");
  expect(await thrown).toBe("enough");
});

test("a call whose signal was aborted before does nothing, so what it would have met ends no program", async () => {
  const calls: string[] = [];
  const unreachable = (name: string) => async (): Promise<never> => {
    calls.push(name);
    throw new Error("unreachable");
  };
  const client = clientOver({
    table: { get: unreachable("get"), query: unreachable("query"), dueRuns: unreachable("dueRuns") },
    send: unreachable("send"),
    clock: systemClock,
    newId: () => "id",
  });
  const signal = AbortSignal.abort("enough");
  const acts: readonly (() => Promise<unknown>)[] = [
    () => client.startRun(oneNode, { signal }),
    () => client.cancelRun("r", { signal }),
    () => client.resolveNode("r", "n", { epoch: 1, by: "ada", why: "seen", resolution: "not_done" }, { signal }),
    () => client.getRun("r", { signal }),
    () => client.getOutput("r", "n", { signal }),
    () => client.waitForRun("r", { signal }),
    () => client.listRuns({ signal }),
    () => client.listDoubts({ signal }),
    () => client.listDoubts({ runId: "r", signal }),
  ];
  for (const act of acts) expect(await thrownBy(act)).toBe("enough");
  expect(calls).toEqual([]);
});

test("an aborted signal ends a send with its reason, even while the deployment is still being looked for", async () => {
  const { client } = deploymentOf({ send: () => new Promise(() => {}) });
  const abort = new AbortController();
  const thrown = thrownBy(() => client.startRun(oneNode, { signal: abort.signal }));
  abort.abort("enough");
  expect(await thrown).toBe("enough");
});

test("an answer that has expired is none, so an old command of the same id does not answer a new one", async () => {
  const deployment = deploymentOf();
  await deployment.put(
    answerItem({ type: "start_run", run_id: "r", command_id: "c" }, { expires_at: startedAtMs / 1_000 }),
  );
  const handle = await deployment.client.startRun({ ...oneNode, runId: "r", commandId: "c" });
  expect(await thrownBy(() => handle.accepted({ timeoutMs: 0 }))).toMatchObject({ code: "timed_out" });
});

test.each([
  { type: "cancel_run", run_id: "r", command_id: "c" },
  { type: "start_run", run_id: "other", command_id: "c" },
])("an answer to another command under the same id is not taken for this one's: $type $run_id", async (other) => {
  const deployment = deploymentOf();
  await deployment.put(answerItem(other));
  const handle = await deployment.client.startRun({ ...oneNode, runId: "r", commandId: "c" });
  expect(await thrownBy(() => handle.accepted())).toMatchObject({ code: "command_id_reused" });
});

test("the refusal of a start is not taken for the answer to a mended one that was sent under the same id", async () => {
  const deployment = deploymentOf(refusesAll({ code: "unknown_tool", rule: "must be a known tool" }));
  const start = (tool: string) =>
    deployment.client.startRun({ runId: "r", commandId: "c", nodes: [{ nodeId: "a", tool }] });
  const first = await start("nope");
  const kept = await deployment.table.get(commandKey("c"));
  expect(await thrownBy(() => first.accepted())).toMatchObject({ code: "unknown_tool" });
  const mended = await start("noop");
  await deployment.put({ ...commandKey("c"), ...kept });
  expect(await thrownBy(() => mended.accepted())).toMatchObject({ code: "command_id_reused" });
});

test("a deployment that cannot read a command is heard, though it cannot say of which type it was", async () => {
  const { client } = deploymentOf({
    onCommand: (command, { put, sent }) =>
      put(
        answerItem(command, {
          type: "unreadable",
          content_hash: hashOf([sent[0] ?? ""]),
          outcome: "refused",
          refusal: '{"code":"bad_field","rule":"unknown"}',
        }),
      ),
  });
  const handle = await client.startRun({ ...oneNode, commandId: "c" });
  expect(await thrownBy(() => handle.accepted())).toMatchObject({ name: "StartRefusedError", code: "bad_field" });
});

test("a start of exactly one message's size is sent, one byte more is not", async () => {
  const { client, sent } = deploymentOf();
  const start = (length: number) => ({
    runId: "r",
    commandId: "c",
    nodes: [{ nodeId: "a", tool: "noop", input: "x".repeat(length) }],
  });
  await client.startRun(start(0));
  const rest = fixed.messageBytes - (sent[0]?.length ?? 0);
  await client.startRun(start(rest));
  expect(sent[1]).toHaveLength(fixed.messageBytes);
  const error = await thrownBy(() => client.startRun(start(rest + 1)));
  expect(error).toMatchObject({ code: "message_too_large" });
  expect(String(error)).toContain(`must be at most ${fixed.messageBytes} bytes as one SQS message, got 1048577`);
  expect(sent).toHaveLength(2);
});

test("size is counted as it is sent: a character beyond ASCII counts as its escape", async () => {
  const { client } = deploymentOf();
  const input = "ы".repeat(fixed.messageBytes / 4);
  const start = () => client.startRun({ nodes: [{ nodeId: "a", tool: "noop", input }] });
  expect(await thrownBy(start)).toMatchObject({ code: "message_too_large" });
});

const deep = (levels: number): unknown => JSON.parse(`${"[".repeat(levels)}${"]".repeat(levels)}`);
const circle: { self?: unknown } = {};
circle.self = circle;

test.each<[string, Parameters<ReturnType<typeof deploymentOf>["client"]["startRun"]>[0], object]>([
  ["no nodes", { nodes: [] }, { field: "nodes" }],
  ["an empty run id", { ...oneNode, runId: "" }, { field: "run_id", value: '""' }],
  ["an empty node id", { nodes: [{ nodeId: "", tool: "noop" }] }, { node: "", field: "node_id", value: '""' }],
  ["a node id with a control character", { nodes: [{ nodeId: "a\u0000", tool: "noop" }] }, { field: "node_id" }],
  ["half a surrogate pair", { nodes: [{ nodeId: "a\ud800", tool: "noop" }] }, { field: "node_id" }],
  ["a tool name with a space", { nodes: [{ nodeId: "a", tool: "n p" }] }, { node: "a", field: "tool", value: '"n p"' }],
  ["an empty dependency", { nodes: [{ nodeId: "a", tool: "t", dependsOn: [""] }] }, { field: "depends_on.0" }],
  ["a deadline of nothing", { ...oneNode, deadlineMs: 0 }, { field: "deadline_ms", value: "0" }],
  ["half a millisecond", { ...oneNode, deadlineMs: 0.5 }, { field: "deadline_ms", value: "0.5" }],
  ["an input too deep", { nodes: [{ nodeId: "a", tool: "t", input: deep(9_999) }] }, { node: "a" }],
  [
    "an input in a circle",
    { nodes: [{ nodeId: "a", tool: "t", input: circle }] },
    { field: "input/self", value: "cycle" },
  ],
  [
    "an input that is no JSON",
    { nodes: [{ nodeId: "a", tool: "t", input: { at: new Date(0) } }] },
    { field: "input/at" },
  ],
  ["a bigint", { nodes: [{ nodeId: "a", tool: "t", input: 1n }] }, { field: "input", value: "bigint" }],
])("a start with %s is refused before anything is sent, with field, rule and value", async (_, request, told) => {
  const { client, sent } = deploymentOf(acceptsAll);
  const error = await thrownBy(() => client.startRun(request));
  expect(isRefused(error)).toBe(true);
  expect(error).toMatchObject({
    code: expect.stringMatching(/^bad_(field|value)$/),
    rule: expect.stringMatching(/./),
    value: expect.any(String),
  });
  expect(error).toMatchObject(told);
  expect(sent).toEqual([]);
});

test("a cancel with a reason that is too long is refused before anything is sent", async () => {
  const { client, sent } = deploymentOf();
  const error = await thrownBy(() => client.cancelRun("r", { reason: "x".repeat(257) }));
  expect(error).toMatchObject({ name: "CancelRefusedError", field: "reason" });
  expect(sent).toEqual([]);
});

test("a send that fails is the sender's error as it is", async () => {
  const cause = new Error("no such queue");
  const { client } = deploymentOf({ send: () => Promise.reject(cause) });
  expect(await thrownBy(() => client.startRun(oneNode))).toBe(cause);
});
