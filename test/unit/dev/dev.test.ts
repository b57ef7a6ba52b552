import { afterEach, beforeEach, expect, test } from "vitest";
import { runDev } from "../../../cli/dev/dev.ts";
import { isUsageError } from "../../../cli/usage.ts";
import { jsonLines } from "../cli/program.ts";
import { devOnce, devSession, type Folder, graphOf, moduleHead, type Session, userFolder } from "./dev-session.ts";

let folder: Folder;
let sessions: Session[];
beforeEach(() => {
  folder = userFolder();
  sessions = [];
});
afterEach(async () => {
  for (const session of sessions) session.interrupt();
  await Promise.all(sessions.map(({ exitCode }) => exitCode));
  folder.remove();
});

const started = (...options: Parameters<typeof devSession>): Session => {
  const session = devSession(...options);
  sessions.push(session);
  return session;
};

/** One tool `work`, with that body. */
const writeTools = (body: string, more = ""): void =>
  folder.write(
    "tools.ts",
    `${moduleHead(folder)}${more}
export const tools = [defineTool({ name: "work", ...any, effect: "idempotent", async execute(input, context) { ${body} } })];`,
  );
const files = () => ({ tools: folder.path("tools.ts"), graph: folder.path("order.json") });

test("a graph runs to its end, node after node, with what its tools log, and its outputs are shown", async () => {
  writeTools('context.log.info("at work", { input }); return { got: input };');
  folder.write(
    "order.json",
    graphOf(
      { node_id: "a", tool: "work", input: 1 },
      { node_id: "b", tool: "work", input: { $output: "a", pointer: "/got" } },
      { node_id: "c", tool: "work", input: 3, depends_on: ["a", "b"] },
    ),
  );
  const { exitCode, said } = await devOnce(files());
  expect(exitCode).toBe(0);
  expect(said).toMatch(/^\S+tools\.ts: 1 tool\n {2}work \(idempotent\)\nrun order-1: RUNNING, 0 of 3 nodes ended\n/);
  expect(said).toContain('  a | at work {"input":1}\n  a: SUCCEEDED (attempt 1 of 5)\n');
  expect(said).toMatch(
    /outputs\n {2}a: \{"got":1\}\n {2}b: \{"got":1\}\n {2}c: \{"got":3\}\nrun order-1: SUCCEEDED, 3 of 3 nodes ended, after \S+ s\n$/,
  );
});

test("a node that names no tool runs the default one, and without a default the graph is refused by node and field", async () => {
  writeTools("return input;");
  folder.write("order.json", graphOf({ node_id: "a", input: 7 }));
  expect((await devOnce({ ...files(), defaultTool: "work" })).said).toContain("  a: 7\nrun order-1: SUCCEEDED");
  await expect(devOnce(files())).rejects.toThrow('node "a": tool must be given, here or for all by --default-tool');
});

test("a tool that throws is shown with the line of the user's source, is tried again, and a run that fails ends with 1", async () => {
  writeTools(
    "return await charge(context.attempt);",
    `import { NonRetryableError, RetryableError } from ${JSON.stringify(`${process.cwd()}/shared/errors.ts`)};
const charge = async (attempt: number) => {
  if (attempt === 1) throw new RetryableError("busy", { retryAfterMs: 1 });
  throw new NonRetryableError("declined", { cause: new Error("no money") });
};`,
  );
  folder.write(
    "order.json",
    graphOf({ node_id: "pay", tool: "work" }, { node_id: "mail", tool: "work", depends_on: ["pay"] }),
  );
  const { exitCode, said } = await devOnce(files());
  expect(exitCode).toBe(1);
  expect(said).toContain(`  pay | threw RetryableError: busy\n      at charge (${folder.shown("tools.ts")}:8:28)\n`);
  expect(said).toContain("  pay: READY (attempt 1 of 5): RetryableError: busy\n");
  expect(said).toContain("  pay | threw NonRetryableError: declined, caused by Error: no money\n");
  expect(said).toContain("  pay: FAILED (attempt 2 of 5, effect none): NonRetryableError: declined\n");
  expect(said).toMatch(/run order-1: FAILED, 2 of 2 nodes ended, after \S+ s\n$/);
});

test("a wide graph runs to its end, with more nodes ready than there are workers", async () => {
  writeTools("return {};");
  const leaves = Array.from({ length: 40 }, (_, index) => ({ node_id: `leaf-${index}`, tool: "work" }));
  folder.write(
    "order.json",
    graphOf(...leaves, { node_id: "join", tool: "work", depends_on: leaves.map((leaf) => leaf.node_id) }),
  );
  const { exitCode, said } = await devOnce(files());
  expect([exitCode, said]).toEqual([0, expect.stringContaining("SUCCEEDED, 41 of 41 nodes ended")]);
});

test("with --json each line is an event, as watch has them, and the outputs are whole", async () => {
  writeTools('return "x".repeat(20_000);');
  folder.write("order.json", graphOf({ node_id: "a", tool: "work" }));
  const { said } = await devOnce({ ...files(), json: true });
  expect(jsonLines(said)).toEqual([
    { event: "tools", file: folder.path("tools.ts"), tools: [{ name: "work", effect: "idempotent" }] },
    { event: "run", runId: "order-1", status: "RUNNING" },
    expect.objectContaining({ event: "node", nodeId: "a", status: "RUNNING", attempts: 1 }),
    expect.objectContaining({ event: "node", nodeId: "a", status: "SUCCEEDED" }),
    { event: "outputs", outputs: [{ nodeId: "a", output: "x".repeat(20_000) }] },
    { event: "end", run: expect.objectContaining({ runId: "order-1", status: "SUCCEEDED", ended: true }) },
  ]);
});

test("a changed tool, or a changed graph, is run again as it is now", async () => {
  folder.write("word.ts", 'export const word = "before";');
  writeTools("return word;", 'import { word } from "./word.ts";');
  folder.write("order.json", graphOf({ node_id: "a", tool: "work" }));
  const session = started(files());
  expect(await session.until("waiting for a change")).toContain('a: "before"');
  folder.write("word.ts", 'export const word = "after";');
  expect(await session.until("run order-2: SUCCEEDED")).toMatch(/word\.ts changed\n(.|\n)*a: "after"\n/);
  await session.until("waiting for a change");
  writeTools("return lucky;", 'import { lucky } from "./number.ts";');
  expect(await session.until("waiting for a change")).toContain('Could not resolve "./number.ts"');
  folder.write("number.ts", "export const lucky = 7;");
  expect(await session.until("run order-3: SUCCEEDED")).toMatch(/number\.ts changed\n(.|\n)*a: 7\n/);
  folder.write("number.ts", "export const lucky = 8;");
  expect(await session.until("run order-4: SUCCEEDED")).toMatch(/number\.ts changed\n(.|\n)*a: 8\n/);
  await session.until("waiting for a change");
  folder.write("order.json", graphOf({ node_id: "b", tool: "work" }));
  expect(await session.until("run order-5: SUCCEEDED")).toMatch(/order\.json changed\n(.|\n)*b: 8\n/);
});

test("a syntax error, a wrong graph and a refused one are told, and the run comes once they are repaired", async () => {
  folder.write("tools.ts", "export const tools = [;");
  folder.write("order.json", "{}");
  const session = started(files());
  expect(await session.until("waiting for a change")).toMatch(/tools\.ts:1:23: Unexpected ";"\n/);
  writeTools("return {};");
  expect(await session.until("waiting for a change")).toContain(
    "order.json: nodes must be a list of at least one node, got nothing\n",
  );
  folder.write("order.json", graphOf({ node_id: "a", tool: "wrok" }));
  expect(await session.until("waiting for a change")).toMatch(
    /start_run was refused \(unknown_tool\): node a, tool: .*, got wrok\n/,
  );
  folder.write("order.json", graphOf({ node_id: "a", tool: "work" }));
  expect(await session.until("waiting for a change")).toContain("SUCCEEDED, 1 of 1 nodes ended");
});

test("a change while a tool hangs abandons the run, and what the tool does later is neither told nor kept", async () => {
  writeTools(`context.signal.addEventListener("abort", () => act("aborted"));
    await new Promise((resolve) => setTimeout(resolve, 1_500)); act("late"); context.log.info("late"); throw new Error("late");`);
  folder.write("order.json", graphOf({ node_id: "a", tool: "work" }));
  const session = started(files());
  await session.until("a: RUNNING");
  writeTools("act('new'); return {};");
  expect(await session.until("run order-2: SUCCEEDED")).toMatch(
    /run order-1: abandoned, since its files changed\n(.|\n)*tools\.ts changed\n/,
  );
  expect(folder.lines("effects")).toEqual(["aborted", "new"]);
  await expect.poll(() => folder.lines("effects"), { timeout: 10_000 }).toEqual(["aborted", "new", "late"]);
  await session.until("waiting for a change");
  session.type("");
  writeTools("return {};");
  expect(await session.until("run order-3: SUCCEEDED")).not.toContain("late");
});

test("a module that never ends its loading does not hold up the next change", async () => {
  folder.write(
    "tools.ts",
    "await new Promise(() => setInterval(() => undefined, 1_000_000).unref()); export const tools = [];",
  );
  folder.write("order.json", graphOf({ node_id: "a", tool: "work" }));
  const session = started(files());
  await new Promise((resolve) => setTimeout(resolve, 400));
  writeTools("return {};");
  await session.until("run order-1: SUCCEEDED");
});

test("without a graph the tools are listed, and graphs are read from standard input, line by line", async () => {
  writeTools("return {};");
  folder.write("order.json", graphOf({ node_id: "a", tool: "work" }));
  const session = started({ tools: folder.path("tools.ts") });
  expect(await session.until("type the path of a graph file (Ctrl-C ends)")).toContain("work (idempotent)");
  session.type(folder.path("order.json"));
  await session.until("run order-1: SUCCEEDED");
  await session.until("or nothing for");
  session.type("");
  await session.until("run order-2: SUCCEEDED");
  session.type(folder.path("gone.json"));
  await session.until("gone.json: must be a file that can be read, got no such file\n");
  session.endInput();
  expect(await session.exitCode).toBe(1);
});

test("a graph that is typed after a change of the tools is run once, by the new ones", async () => {
  writeTools('act("old"); return {};');
  folder.write("order.json", graphOf({ node_id: "a", tool: "work" }));
  const session = started({ tools: folder.path("tools.ts") });
  await session.until("type the path");
  writeTools('act("new"); return {};');
  await session.until("tools.ts changed");
  await session.until("type the path");
  session.type(folder.path("order.json"));
  await session.until("run order-1: SUCCEEDED");
  session.endInput();
  expect([await session.exitCode, folder.lines("effects")]).toEqual([0, ["new"]]);
});

test("input that ends after runs that succeeded ends the session with 0, and --once without a graph only checks the tools", async () => {
  writeTools("return {};");
  folder.write("order.json", graphOf({ node_id: "a", tool: "work" }));
  const session = started({ tools: folder.path("tools.ts") });
  session.type(folder.path("order.json"));
  session.endInput();
  expect(await session.exitCode).toBe(0);
  expect(await devOnce({ tools: folder.path("tools.ts") })).toEqual({
    exitCode: 0,
    said: expect.stringMatching(/1 tool\n {2}work \(idempotent\)\n$/),
  });
});

test("with --once files that are wrong are errors of usage, which the program reports", async () => {
  folder.write("tools.ts", "export {};");
  const error: unknown = await devOnce(files()).catch((thrown: unknown) => thrown);
  expect(isUsageError(error) && error.message).toMatch(/tools\.ts: must export a list "tools", got no exports$/);
});

test("a graph that is piped in is read once, and run again after a change", async () => {
  writeTools("return 1;");
  const over = new AbortController();
  let said = "";
  let reads = 0;
  const output = { write: (text: string) => (said += text) };
  const exitCode = runDev(
    { tools: folder.path("tools.ts"), graph: "-", once: false, kill: false, json: false },
    {
      stdout: output,
      stderr: output,
      environment: {},
      signal: over.signal,
      readInput: async () => {
        reads += 1;
        return graphOf({ node_id: "a", tool: "work" });
      },
    },
  );
  await expect.poll(() => said, { timeout: 10_000 }).toContain("run run-1: SUCCEEDED");
  writeTools("return 2;");
  await expect.poll(() => said, { timeout: 10_000 }).toContain("run run-2: SUCCEEDED");
  over.abort();
  expect([await exitCode, reads]).toEqual([130, 1]);
});

test("Ctrl-C ends a session with 130, also one whose tool hangs", async () => {
  writeTools("await new Promise(() => undefined); return {};");
  folder.write("order.json", graphOf({ node_id: "a", tool: "work" }));
  const session = started(files());
  await session.until("a: RUNNING");
  session.interrupt();
  expect(await session.exitCode).toBe(130);
});
