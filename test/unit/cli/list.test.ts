import { expect, test } from "vitest";
import { deploymentOf, runItem, startedAtMs } from "../client/deployment.ts";
import { jsonLines, run } from "./program.ts";

async function living(count: number) {
  const { client, put } = deploymentOf();
  for (let place = 0; place < count; place += 1) {
    const created_at_ms = startedAtMs - place * 60_000;
    const status = place % 2 === 0 ? "RUNNING" : "CANCELLING";
    const scan = { scan_shard: place % 16, scan_at_ms: startedAtMs };
    await put(runItem({ run_id: `r${place}`, status, node_count: 97, created_at_ms, ...scan }));
  }
  return client;
}
const nowMs = () => startedAtMs + 5_000;

test("list shows the living runs with their age and deadline", async () => {
  const { exitCode, stdout, stderr } = await run(await living(2), ["list"], { nowMs });
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
  expect(stdout).toBe(
    [
      "RUN  STATUS      NODES  AGE        DEADLINE",
      "r0   RUNNING     97     5 s        in 59 min 55 s",
      "r1   CANCELLING  97     1 min 5 s  in 59 min 55 s",
      "",
    ].join("\n"),
  );
});

test("a run whose deadline has passed says so", async () => {
  const { stdout } = await run(await living(1), ["list"], { nowMs: () => startedAtMs + 3_600_000 });
  expect(stdout).toMatch(/ 1 h {2}passed\n$/);
});

test("more runs than the limit are told on stderr, where no program takes them for a run", async () => {
  const client = await living(20);
  const { stdout, stderr } = await run(client, ["list", "--limit", "3", "--json"]);
  expect(jsonLines(stdout)).toHaveLength(3);
  expect(stderr).toBe("there are more than these 3; --all lists all\n");
});

test("with --all every page is read, and each run stands there once", async () => {
  const { stdout, stderr } = await run(await living(20), ["list", "--limit", "3", "--all", "--json"]);
  expect(stderr).toBe("");
  const ids = jsonLines(stdout).map((each) => Reflect.get(Object(each), "runId"));
  expect(ids.sort()).toEqual(Array.from({ length: 20 }, (_, place) => `r${place}`).sort());
});

test("with --json each run is one line of JSON", async () => {
  const { stdout } = await run(await living(1), ["list", "--json"]);
  expect(jsonLines(stdout)).toEqual([
    expect.objectContaining({ runId: "r0", status: "RUNNING", nodeCount: 97, createdAtMs: startedAtMs }),
  ]);
});

test("no living run exits with 0 and says so; with --json nothing is printed", async () => {
  const { client } = deploymentOf();
  expect(await run(client, ["list"])).toEqual({ exitCode: 0, stdout: "no run is living\n", stderr: "" });
  expect(await run(client, ["list", "--json"])).toEqual({ exitCode: 0, stdout: "", stderr: "" });
});
