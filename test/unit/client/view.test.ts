import { expect, test } from "vitest";
import type { RunView } from "../../../client/index.ts";
import { acceptsAll, dependentsItem, deploymentOf, nodeItem, runItem, startedAtMs } from "./deployment.ts";

test("there is no view of a run that nobody started", async () => {
  expect(await deploymentOf().client.getRun("nobody")).toBeUndefined();
});

test.each(["", "a\u0000", "a\ud800", "x".repeat(300)])("an id that no run can have (%j) has no run", async (runId) => {
  expect(await deploymentOf({ silent: true }).client.getRun(runId)).toBeUndefined();
});

test("a run whose time to live has passed is gone, though its items still stand", async () => {
  const { client, put } = deploymentOf();
  await put(runItem({ expires_at: startedAtMs / 1_000 }));
  expect(await client.getRun("run")).toBeUndefined();
});

test("a run shows its nodes in the order given at the start, with what each came to", async () => {
  const { client, put } = deploymentOf();
  await put(runItem({ status: "FAILED", ended_at_ms: startedAtMs + 10, cancel_reason: "why" }));
  await put(
    nodeItem({
      node_id: "b",
      ordinal: 1,
      status: "FAILED",
      epoch: 3,
      attempts_used: 2,
      effect: "unknown",
      error: '{"name":"E","message":"m"}',
      ended_at_ms: startedAtMs + 9,
    }),
  );
  await put(
    nodeItem({ node_id: "z", ordinal: 0, status: "SUCCEEDED", output: '{"code":1}', dependents: '[["b",1],["a",0]]' }),
  );
  await put(nodeItem({ node_id: "a", ordinal: 2, status: "SKIPPED", output_epoch: 1, error: "cut off {" }));
  expect(await client.getRun("run")).toEqual({
    runId: "run",
    status: "FAILED",
    ended: true,
    createdAtMs: startedAtMs,
    deadlineAtMs: startedAtMs + 3_600_000,
    endedAtMs: startedAtMs + 10,
    cancelReason: "why",
    nodes: [
      { ...plain, nodeId: "z", status: "SUCCEEDED", output: { code: 1 } },
      {
        ...plain,
        nodeId: "b",
        status: "FAILED",
        attempts: 2,
        epoch: 3,
        dependsOn: ["z"],
        effect: "unknown",
        error: { name: "E", message: "m" },
        endedAtMs: startedAtMs + 9,
      },
      { ...plain, nodeId: "a", status: "SKIPPED", dependsOn: ["z"], outputBeside: true, error: "cut off {" },
    ],
  });
});

const plain = { tool: "noop", attempts: 0, maxAttempts: 5, epoch: 0, dependsOn: [] };

test("nodes that an expired run of the same id has left are not shown", async () => {
  const { client, put } = deploymentOf();
  await put(runItem());
  await put(nodeItem({ node_id: "own" }));
  await put(nodeItem({ node_id: "left", generation: "g0" }));
  expect((await client.getRun("run"))?.nodes.map((node) => node.nodeId)).toEqual(["own"]);
});

test("dependents that stand beside their node are found, those of another generation are not", async () => {
  const { client, put } = deploymentOf();
  await put(runItem());
  await put(nodeItem({ node_id: "#odd#", ordinal: 0, dependents_beside: true }));
  await put(nodeItem({ node_id: "b", ordinal: 1, dependents_beside: true }));
  await put(nodeItem({ node_id: "c", ordinal: 2 }));
  await put(dependentsItem("run", "#odd#", [["c", 0]]));
  await put({ ...dependentsItem("run", "b", [["c", 0]]), generation: "g0" });
  const run = await client.getRun("run");
  expect(run?.nodes.map((node) => node.dependsOn)).toEqual([[], [], ["#odd#"]]);
});

test("a wait resolves with the run as it ended, and has told each change once", async () => {
  const deployment = deploymentOf(acceptsAll);
  const { client, put, after } = deployment;
  await client.startRun({ runId: "run", nodes: [{ nodeId: "node", tool: "noop" }] });
  after(1_000, () => put(nodeItem({ status: "RUNNING", epoch: 1 })));
  after(4_000, () => put(nodeItem({ status: "SUCCEEDED", epoch: 1 })));
  after(8_000, () => put(runItem({ status: "SUCCEEDED", ended_at_ms: startedAtMs + 8_000 })));
  const told: string[] = [];
  const end = await client.waitForRun("run", {
    onChange: (now, before) => told.push(`${stateOf(before)} -> ${stateOf(now)}`),
  });
  expect(stateOf(end)).toBe("SUCCEEDED/SUCCEEDED");
  expect(told).toEqual([
    "nothing -> RUNNING/READY",
    "RUNNING/READY -> RUNNING/RUNNING",
    "RUNNING/RUNNING -> RUNNING/SUCCEEDED",
    "RUNNING/SUCCEEDED -> SUCCEEDED/SUCCEEDED",
  ]);
});

const stateOf = (run: RunView | undefined) => (run === undefined ? "nothing" : `${run.status}/${run.nodes[0]?.status}`);

test("a node that waits for its next attempt says when that may begin, and one that was never tried does not", async () => {
  const { client, put } = deploymentOf();
  await put(runItem());
  await put(nodeItem({ status: "READY", attempts_used: 1, epoch: 1, not_before_ms: startedAtMs + 9_000 }));
  expect((await client.getRun("run"))?.nodes[0]).toMatchObject({ notBeforeMs: startedAtMs + 9_000 });
  await put(nodeItem({ status: "READY", not_before_ms: 0 }));
  expect((await client.getRun("run"))?.nodes[0]).not.toHaveProperty("notBeforeMs");
});

test("a wait that tells nobody of changes reads the nodes at the end only", async () => {
  const { client, put, after, table } = deploymentOf();
  await put(runItem());
  await put(nodeItem());
  after(20_000, () => put(runItem({ status: "CANCELLED" })));
  let queries = 0;
  const { query } = table;
  Object.assign(table, {
    query: (pk: string, prefix: string) => {
      queries += 1;
      return query(pk, prefix);
    },
  });
  expect(await client.waitForRun("run")).toMatchObject({ status: "CANCELLED", nodes: [{ nodeId: "node" }] });
  expect(queries).toBe(1);
});

test("a wait for a run that does not exist ends at once", async () => {
  await expect(deploymentOf().client.waitForRun("nobody")).rejects.toMatchObject({ code: "no_such_run" });
});

test("a wait for a run that does not end is over at its time", async () => {
  const { client, put, elapsedMs } = deploymentOf();
  await put(runItem());
  const wait = client.waitForRun("run", { timeoutMs: 5_000 });
  await expect(wait).rejects.toThrow('run "run" did not end within 5000 ms');
  expect(elapsedMs()).toBe(5_000);
});

test("an item of an unknown version fails the read instead of being guessed at", async () => {
  const { client, put } = deploymentOf();
  await put({ ...runItem(), v: 2 });
  await expect(client.getRun("run")).rejects.toThrow("stored item");
});
