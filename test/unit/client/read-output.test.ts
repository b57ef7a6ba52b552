import { readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { expect, test } from "vitest";
import { contentHashOf, outputBlobKey, outputKey } from "../../../shared/keys.ts";
import { besideItem, deploymentOf, nodeItem, runItem, startedAtMs } from "./deployment.ts";

const node = { run_id: "run", generation: "g1", node_id: "node" };
const large = JSON.stringify({ text: "é".repeat(20_000) });
const inS3 = nodeItem({ status: "SUCCEEDED", output_epoch: 2, output_blob: contentHashOf(large) });

async function withNode(item: ReturnType<typeof nodeItem>, options: Parameters<typeof deploymentOf>[0] = {}) {
  const deployment = deploymentOf(options);
  await deployment.put(runItem());
  await deployment.put(item);
  return deployment;
}

test("an output is read from its node, from the item beside it, and from its object", async () => {
  const inside = await withNode(nodeItem({ status: "SUCCEEDED", output: '{"code":"V-1"}' }));
  expect(await inside.client.getOutput("run", "node")).toEqual({ code: "V-1" });

  const beside = await withNode(nodeItem({ status: "SUCCEEDED", output_epoch: 2 }));
  await beside.put(besideItem(outputKey("run", "node", 2), "[1,2]"));
  expect(await beside.client.getOutput("run", "node")).toEqual([1, 2]);

  const object = await withNode(inS3);
  await object.blobs.put(outputBlobKey(node, 2, contentHashOf(large)), large);
  expect(await object.client.getOutput("run", "node")).toEqual(JSON.parse(large));
});

test("an output of null is one", async () => {
  const { client } = await withNode(nodeItem({ status: "SUCCEEDED", output: "null" }));
  expect(await client.getOutput("run", "node")).toBeNull();
});

test("a value that broke its tool's schema can be read, though its node FAILED", async () => {
  const { client } = await withNode(nodeItem({ status: "FAILED", effect: "done", output: '"raw"' }));
  expect(await client.getOutput("run", "node")).toBe("raw");
});

test("a node without an output is told with its status", async () => {
  const { client } = await withNode(nodeItem({ status: "RUNNING", epoch: 1 }));
  await expect(client.getOutput("run", "node")).rejects.toMatchObject({
    code: "no_output",
    nodeStatus: "RUNNING",
    message: 'node "node" of run "run" must have an output, got a node that is RUNNING and has none',
  });
});

test.each([
  ["run", "other", "no_such_node"],
  ["run", "", "no_such_node"],
  ["run", "left", "no_such_node"],
  ["nobody", "node", "no_such_run"],
  ["expired", "node", "no_such_run"],
])("run %j, node %j: %s", async (runId, nodeId, code) => {
  const { client, put } = await withNode(nodeItem({ status: "SUCCEEDED", output: "1" }));
  await put(nodeItem({ node_id: "left", generation: "g0", output: "1" }));
  await put(runItem({ run_id: "expired", expires_at: startedAtMs / 1_000 }));
  await expect(client.getOutput(runId, nodeId)).rejects.toMatchObject({ code });
});

test("an object that is gone, or is not what was written, is never taken for the output", async () => {
  const deployment = await withNode(inS3);
  await expect(deployment.client.getOutput("run", "node")).rejects.toThrow("is missing");
  await deployment.blobs.put(outputBlobKey(node, 2, contentHashOf(large)), "{}");
  await expect(deployment.client.getOutput("run", "node")).rejects.toThrow("is not what was written");
});

test("without a bucket small outputs are read, and a large one says which setting is missing", async () => {
  const small = await withNode(nodeItem({ status: "SUCCEEDED", output: "1" }), { withoutBlobs: true });
  expect(await small.client.getOutput("run", "node")).toBe(1);
  const { client } = await withNode(inS3, { withoutBlobs: true });
  await expect(client.getOutput("run", "node")).rejects.toMatchObject({
    code: "not_configured",
    message: expect.stringMatching(/valuesBucket .* LEASEHOLD_VALUES_BUCKET/),
  });
});

test.each(["getRun", "getOutput", "waitForRun", "listDoubts"] as const)(
  "an aborted signal ends %s with its reason, before it began and while a read hangs",
  async (name) => {
    const { client } = deploymentOf({ silent: true });
    const call = (signal: AbortSignal): Promise<unknown> =>
      name === "getOutput"
        ? client.getOutput("run", "node", { signal })
        : name === "listDoubts"
          ? client.listDoubts({ signal })
          : client[name]("run", { signal });
    await expect(call(AbortSignal.abort("before"))).rejects.toBe("before");
    const abort = new AbortController();
    const reading = call(abort.signal);
    abort.abort("while");
    await expect(reading).rejects.toBe("while");
  },
);

test("a program that reads no large output and names its table loads neither the S3 nor the CloudFormation client", () => {
  const root = join(import.meta.dirname, "../../..");
  const seen = new Set<string>();
  const visit = (path: string): void => {
    if (seen.has(path)) return;
    seen.add(path);
    if (!path.endsWith(".ts")) return;
    const text = readFileSync(join(root, path), "utf8");
    for (const [, types, name = ""] of text.matchAll(/^(?:import|export) (type )?[^"';]*?from "([^"]+)"/gms)) {
      if (types === undefined) visit(name.startsWith(".") ? posix.join(posix.dirname(path), name) : name);
    }
  };
  visit("client/index.ts");
  expect([...seen]).toContain("@aws-sdk/client-dynamodb");
  expect([...seen].filter((name) => /client-s3|client-cloudformation/.test(name))).toEqual([]);
});
