import { describe, test } from "vitest";
import { devOnce, graphOf, moduleHead, userFolder } from "./dev-session.ts";

/** Runs `a`, then `b`, each with that tool, and brings what was said and the operation ids of all calls. */
const killed = async (effect: string, more = "") => {
  const folder = userFolder();
  folder.write(
    "tools.ts",
    `${moduleHead(folder)}
const work = { name: "work", ...any, execute: async (_input, { operationId }) => { act(operationId); return "done"; } };
export const tools = [defineTool({ ...work, effect: "${effect}" ${more} })];`,
  );
  folder.write(
    "order.json",
    graphOf({ node_id: "a", tool: "work" }, { node_id: "b", tool: "work", depends_on: ["a"] }),
  );
  try {
    const ran = await devOnce({ tools: folder.path("tools.ts"), graph: folder.path("order.json"), kill: true });
    return { ...ran, effects: folder.lines("effects") };
  } finally {
    folder.remove();
  }
};

// They wait for leases, so they wait together.
describe.concurrent("with --kill", () => {
  test("an idempotent tool whose worker dies after it acted is called again under the same operation id, and succeeds", async ({
    expect,
  }) => {
    const { exitCode, said, effects } = await killed("idempotent");
    expect(effects).toHaveLength(4);
    expect(new Set(effects).size).toBe(2);
    const [id] = effects;
    expect(said).toContain(
      `  a: KILLED after the tool acted (attempt 1, operation id ${id?.slice(0, 12)}…); its message comes back when the lease has ended, in about 2 s\n`,
    );
    expect(said).toContain(`  a: taken over, attempt 2, same operation id ${id?.slice(0, 12)}…\n`);
    expect(said).toContain("  b: SUCCEEDED (attempt 2 of 5)\n");
    // Nothing was recorded of the first attempt: its worker is dead, and did not end it.
    expect(said).not.toContain("ToolDidNotStop");
    expect(exitCode).toBe(0);
  });

  test("a reconcilable tool whose worker dies after it acted is looked up and not called again", async ({ expect }) => {
    const { exitCode, said, effects } = await killed(
      "reconcilable",
      ', reconcile: async () => ({ is: "done", output: "found" })',
    );
    expect(effects).toHaveLength(2);
    expect(said).toMatch(/ {2}a: KILLED after .*; it is looked up once its invocation is surely over, in about \d s\n/);
    expect(said).toMatch(/ {2}a: looked up, same operation id \S+: done\n/);
    expect(said).toContain('  a: "found"\n');
    expect(exitCode).toBe(0);
  });

  test("an at_most_once tool whose worker dies after it acted is in doubt: nobody calls it again, and the run waits", async ({
    expect,
  }) => {
    const { exitCode, said, effects } = await killed("at_most_once");
    expect(effects).toHaveLength(1);
    expect(said).toMatch(
      / {2}a: KILLED after .*; nobody calls it again; it is in doubt once its invocation is surely over/,
    );
    expect(said).toContain("  a: IN_DOUBT (attempt 1 of 5)");
    expect(said).toContain(
      "run order-1: RUNNING, 0 of 2 nodes ended\nrun waits: only someone who knows can say whether a had its effect.",
    );
    expect(said).toContain("leasehold resolve order-1 a (--succeeded --output JSON | --not-done | --failed)");
    expect(exitCode).toBe(1);
  });
});
