import { afterEach, expect, test, vi } from "vitest";
import { lazyClient } from "../../../cli/lazy-client.ts";
import { deploymentOf, runItem } from "../client/deployment.ts";
import { run } from "./program.ts";

const runDev = vi.fn(async (_options: unknown, _world: unknown): Promise<number> => 0);
const runLocal = vi.fn(async (_options: unknown, _world: unknown): Promise<number> => 0);
vi.mock("../../../cli/dev/dev.ts", () => ({ runDev }));
vi.mock("../../../cli/local/local.ts", () => ({ runLocal }));
afterEach(() => vi.clearAllMocks());

const { client } = deploymentOf();

test.each<[string[], object]>([
  [["t.ts"], { tools: "t.ts", once: false, kill: false, json: false }],
  [["t.ts", "g.json", "--once"], { tools: "t.ts", graph: "g.json", once: true, kill: false, json: false }],
  [
    ["t.ts", "g.json", "--default-tool", "noop"],
    { tools: "t.ts", graph: "g.json", defaultTool: "noop", once: false, kill: false, json: false },
  ],
  [["--json", "t.ts", "--kill", "-"], { tools: "t.ts", graph: "-", once: false, kill: true, json: true }],
])("dev %j is carried out with %j", async (args, options) => {
  runDev.mockResolvedValueOnce(1);
  expect(await run(client, ["dev", ...args])).toMatchObject({ exitCode: 1 });
  expect(runDev.mock.calls.map(([given]) => given)).toEqual([options]);
});

test.each<[string[], object]>([
  [[], { context: {} }],
  [["--tools", "t.ts"], { tools: "t.ts", context: {} }],
  [["--app", "npx tsx app.ts", "-c", "a=1"], { app: "npx tsx app.ts", context: { a: "1" } }],
  [["-c", "a=1", "--context", 'limits={"x":"="}', "-ca=2"], { context: { a: "2", limits: '{"x":"="}' } }],
])("local %j is carried out with %j", async (args, options) => {
  expect(await run(client, ["local", ...args])).toMatchObject({ exitCode: 0 });
  expect(runLocal.mock.calls.map(([given]) => given)).toEqual([options]);
});

test("after Ctrl-C local is waited for: it has a local AWS to stop", async () => {
  const interruption = new AbortController();
  let stopped = false;
  runLocal.mockImplementationOnce(async () => {
    interruption.abort();
    await new Promise((resolve) => setTimeout(resolve, 20));
    stopped = true;
    return 0;
  });
  expect(await run(client, ["local"], { signal: interruption.signal })).toMatchObject({ exitCode: 0 });
  expect(stopped).toBe(true);
});

test("the client is loaded at the first call, once, and not for a command that needs none", async () => {
  const { client: real, put } = deploymentOf();
  await put(runItem());
  const load = vi.fn(async () => real);
  const lazy = lazyClient(load);
  await run(lazy, ["--help"]);
  await run(lazy, ["dev", "t.ts"]);
  await run(lazy, ["submit"]);
  expect(load).not.toHaveBeenCalled();
  expect(await run(lazy, ["status", "run"])).toMatchObject({ exitCode: 0 });
  expect(await run(lazy, ["list"])).toMatchObject({ exitCode: 0 });
  expect(load).toHaveBeenCalledTimes(1);
});
