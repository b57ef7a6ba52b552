/** Nodes in doubt, as a program sees them and says what became of them. */
import { describe, expect, test } from "vitest";
import type { ResolveNodeRequest } from "../../../client/index.ts";
import { errorKey, outputKey } from "../../../shared/keys.ts";
import { resolveNodeSchema } from "../../../shared/model.ts";
import type { Item } from "../../../shared/write.ts";
import { answerItem, deploymentOf, nodeItem, refusesAll, runItem, startedAtMs } from "./deployment.ts";

const doubt = { atMs: startedAtMs + 5, why: "nobody can tell", attempt: 2, reconciles: 3 };
const inDoubt = (more: Item = {}) =>
  nodeItem({ status: "IN_DOUBT", epoch: 4, attempts_used: 2, doubt: JSON.stringify(doubt), ...more });
/** A run that has, or had, a node in doubt lives without a time to live. */
const doubtfulRun = (more: Item = {}) => {
  const { expires_at: _, ...run } = runItem({ scan_shard: 0, scan_at_ms: startedAtMs, ...more });
  return { ...run, pk: String(run.pk), sk: String(run.sk) };
};
const said = { epoch: 4, by: "ada", why: "looked" } as const;
const thrownBy = (promise: Promise<unknown>) =>
  promise.then(
    () => expect.unreachable("nothing was thrown"),
    (error: unknown) => error,
  );

describe("the view of a run", () => {
  test("shows a doubt with since, why, attempt and epoch, and what the run waits for", async () => {
    const { client, put } = deploymentOf();
    await put(doubtfulRun({ status: "CANCELLING" }));
    await put(inDoubt());
    await put(nodeItem({ node_id: "next", ordinal: 1, status: "PENDING" }));
    const run = await client.getRun("run");
    expect(run).toMatchObject({ status: "CANCELLING", ended: false });
    expect(run?.waitsFor).toEqual([{ nodeId: "node", why: "nobody can tell" }]);
    expect(run?.nodes[0]?.doubt).toEqual({
      sinceMs: startedAtMs + 5,
      why: "nobody can tell",
      attempt: 2,
      epoch: 4,
      reconciles: 3,
    });
    expect(run?.nodes[1]).not.toHaveProperty("doubt");
  });

  test("shows how a doubt was resolved, and waits no more", async () => {
    const { client, put } = deploymentOf();
    await put(doubtfulRun());
    const resolution = { resolution: "not_done", by: "ada", why: "not there", atMs: startedAtMs + 9 };
    await put(nodeItem({ resolution: JSON.stringify(resolution), epoch: 5 }));
    const run = await client.getRun("run");
    expect(run).not.toHaveProperty("waitsFor");
    expect(run?.nodes[0]).toMatchObject({ status: "READY", resolution });
    expect(run?.nodes[0]).not.toHaveProperty("doubt");
  });

  const beside = (key: { readonly pk: string; readonly sk: string }, value: string, generation = "g1") => ({
    ...key,
    kind: "beside",
    v: 1,
    generation,
    value,
    expires_at: startedAtMs / 1_000 + 86_400,
  });

  test("brings outputs and errors that stand beside their node", async () => {
    const { client, put } = deploymentOf();
    await put(runItem());
    await put(nodeItem({ node_id: "a", status: "SUCCEEDED", output_epoch: 2 }));
    await put(nodeItem({ node_id: "b", ordinal: 1, status: "FAILED", error_epoch: 3, output_epoch: 3 }));
    await put(beside(outputKey("run", "a", 2), '{"long":1}'));
    await put(beside(errorKey("run", "b", 3), '{"name":"E","message":"long"}'));
    await put(beside(outputKey("run", "b", 3), "7", "g0"));
    const nodes = (await client.getRun("run"))?.nodes;
    expect(nodes?.[0]).toMatchObject({ output: { long: 1 } });
    expect(nodes?.[0]).not.toHaveProperty("outputBeside");
    expect(nodes?.[1]).toMatchObject({ error: { name: "E", message: "long" }, outputBeside: true });
    expect(nodes?.[1]).not.toHaveProperty("output");
  });

  test("reads 50 of them at the most, errors first, and says of the others that they are there", async () => {
    const { client, put, table } = deploymentOf();
    await put(runItem());
    for (let ordinal = 0; ordinal < 60; ordinal++) {
      const name = `n${ordinal}`;
      await put(nodeItem({ node_id: name, ordinal, status: "FAILED", error_epoch: 1, output_epoch: 1 }));
      await put(beside(errorKey("run", name, 1), '"e"'));
      await put(beside(outputKey("run", name, 1), '"o"'));
    }
    let reads = 0;
    const { get } = table;
    Object.assign(table, {
      get: (key: Parameters<typeof get>[0]) => {
        reads += 1;
        return get(key);
      },
    });
    const nodes = (await client.getRun("run"))?.nodes ?? [];
    expect(reads).toBe(51);
    expect(nodes.filter((node) => node.error === "e")).toHaveLength(50);
    expect(nodes.filter((node) => node.errorBeside === true)).toHaveLength(10);
    expect(nodes.filter((node) => node.outputBeside === true)).toHaveLength(60);
  });
});

describe("a list of doubts", () => {
  test("of one run names its nodes in doubt, and no others", async () => {
    const { client, put } = deploymentOf();
    await put(doubtfulRun());
    await put(inDoubt());
    await put(nodeItem({ node_id: "other", ordinal: 1 }));
    await put(inDoubt({ node_id: "of an old run", ordinal: 2, generation: "g0" }));
    expect(await client.listDoubts({ runId: "run" })).toEqual([
      {
        runId: "run",
        runStatus: "RUNNING",
        nodeId: "node",
        tool: "noop",
        sinceMs: startedAtMs + 5,
        why: "nobody can tell",
        attempt: 2,
        epoch: 4,
        reconciles: 3,
      },
    ]);
  });

  test("of a run that does not exist says so", async () => {
    await expect(deploymentOf().client.listDoubts({ runId: "nobody" })).rejects.toMatchObject({ code: "no_such_run" });
  });

  test("of all runs goes through every shard, the longest in doubt first, and reads the nodes of doubtful runs only", async () => {
    const { client, put, table } = deploymentOf();
    for (let shard = 0; shard < 16; shard++) {
      const run_id = `r${shard}`;
      await put(doubtfulRun({ run_id, scan_shard: shard, scan_at_ms: startedAtMs + 3_600_000 }));
      await put(inDoubt({ run_id, doubt: JSON.stringify({ ...doubt, atMs: startedAtMs - shard }) }));
      await put(runItem({ run_id: `quiet${shard}`, scan_shard: shard, scan_at_ms: startedAtMs }));
    }
    let queries = 0;
    const { query } = table;
    Object.assign(table, {
      query: (pk: string, prefix: string) => {
        queries += 1;
        return query(pk, prefix);
      },
    });
    const found = await client.listDoubts();
    expect(found.map((each) => each.runId)).toEqual(Array.from({ length: 16 }, (_, index) => `r${15 - index}`));
    expect(queries).toBe(16);
  });

  test("is empty where no run lives", async () => {
    expect(await deploymentOf().client.listDoubts()).toEqual([]);
  });
});

describe("a resolution", () => {
  test.each<[ResolveNodeRequest, object]>([
    [{ ...said, resolution: "succeeded", output: { code: "é" } }, { output: { code: "é" } }],
    [{ ...said, resolution: "succeeded", output: null }, { output: null }],
    [{ ...said, resolution: "not_done" }, {}],
    [{ ...said, resolution: "failed" }, { effect: "unknown" }],
    [{ ...said, resolution: "failed", effect: "none" }, { effect: "none" }],
  ])("%j is sent as the command that the deployment reads", async (request, more) => {
    const { client, sent } = deploymentOf();
    const handle = await client.resolveNode("run", "a", request);
    expect(handle.runId).toBe("run");
    expect(resolveNodeSchema.parse(JSON.parse(sent[0] ?? ""))).toEqual({
      type: "resolve_node",
      command_id: handle.commandId,
      run_id: "run",
      node_id: "a",
      ...said,
      resolution: request.resolution,
      ...more,
    });
  });

  test("that is accepted says what the node is then", async () => {
    const { client } = deploymentOf({
      onCommand: (command, { put }) => put(answerItem(command, { changed: true, node_status: "SUCCEEDED" })),
    });
    const handle = await client.resolveNode("run", "a", { ...said, resolution: "succeeded", output: 1 });
    expect(await handle.accepted()).toEqual({
      runId: "run",
      commandId: handle.commandId,
      changed: true,
      nodeStatus: "SUCCEEDED",
    });
  });

  test("that is refused throws with the refusal's code, node, field, rule and value", async () => {
    const refusal = { code: "not_in_doubt", node: "a", field: "epoch", rule: "must be now", value: "epoch 4" };
    const { client } = deploymentOf(refusesAll(refusal));
    const handle = await client.resolveNode("run", "a", { ...said, resolution: "not_done" });
    expect(await thrownBy(handle.accepted())).toMatchObject({ name: "ResolveRefusedError", ...refusal });
  });

  test.each<[string, object, object]>([
    ["an output that is none", { resolution: "succeeded", output: undefined }, { field: "output", value: "undefined" }],
    [
      "an output that JSON would lose",
      { resolution: "succeeded", output: { at: [new Date(0)] } },
      { code: "bad_value", node: "a", field: "output/at/0", value: "Date" },
    ],
    ["nobody's word", { resolution: "not_done", by: "" }, { field: "by" }],
    ["no grounds", { resolution: "not_done", why: "" }, { field: "why" }],
    ["a fraction of an epoch", { resolution: "not_done", epoch: 1.5 }, { field: "epoch", value: "1.5" }],
    ["another word", { resolution: "perhaps" }, { field: "resolution" }],
    ["an effect that nobody can know", { resolution: "failed", effect: "some" }, { field: "effect" }],
  ])("with %s is refused before it is sent", async (_name, part, refusal) => {
    const { client, sent } = deploymentOf();
    const request = { ...said, ...part } as unknown as ResolveNodeRequest;
    expect(await thrownBy(client.resolveNode("run", "a", request))).toMatchObject(refusal);
    expect(sent).toEqual([]);
  });

  test("under a command id of the caller's own is not answered by what another resolution was told", async () => {
    const { client } = deploymentOf({ onCommand: (command, { put }) => put(answerItem(command)) });
    const first = { ...said, commandId: "mine", resolution: "not_done" } as const;
    const handle = await client.resolveNode("run", "a", first);
    expect(await handle.accepted()).toMatchObject({ commandId: "mine" });
    const earlier = deploymentOf();
    const other = { type: "resolve_node", run_id: "run", command_id: "mine", node_id: "a", ...said };
    await earlier.put(answerItem({ ...other, resolution: "failed" } as Parameters<typeof answerItem>[0]));
    const again = await earlier.client.resolveNode("run", "a", first);
    await expect(again.accepted()).rejects.toMatchObject({ code: "command_id_reused" });
  });
});
