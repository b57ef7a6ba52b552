/** The client on a real table, its index and a real bucket: what its own tests play in memory. */
import { beforeAll, expect, inject, test } from "vitest";
import { type Client, createClient } from "../../client/index.ts";
import { dynamoTable } from "../../shared/adapters/dynamo-table.ts";
import { s3Blobs } from "../../shared/adapters/s3-blobs.ts";
import { contentHashOf, outputBlobKey, outputKey, scanShardOf } from "../../shared/keys.ts";
import type { Item, Key } from "../../shared/write.ts";
import { besideItem, nodeItem, runItem } from "../unit/client/deployment.ts";
import { emulatorBucket } from "./emulator-bucket.ts";
import { emulatorTable, local } from "./emulator-table.ts";

const runIds = Array.from({ length: 60 }, (_, index) => `order/${index} №`);
const large = JSON.stringify({ text: "é".repeat(100_000) });
let put: (item: Item & Key) => Promise<void>;
let client: Client;
let withoutBucket: Client;

const moveAll = (to: (index: number) => number): Promise<unknown> =>
  Promise.all(
    runIds.map((run_id, index) => put(runItem({ run_id, scan_shard: scanShardOf(run_id), scan_at_ms: to(index) }))),
  );

beforeAll(async () => {
  const endpoint = inject("endpoint");
  const { client: documents, tableName } = await emulatorTable(endpoint);
  const { client: objects, bucket } = await emulatorBucket(endpoint);
  const table = dynamoTable({ client: documents, tableName });
  put = async ({ pk, sk, ...item }) => {
    const answer = await table.write({ op: "put", name: "test", key: { pk, sk }, item, conditions: [] });
    if (answer.is !== "applied") throw new Error(JSON.stringify(answer));
  };
  const names = { tableName, commandsQueueUrl: `${endpoint}/000000000000/none`, endpoint, ...local };
  client = createClient({ ...names, valuesBucket: bucket });
  withoutBucket = createClient(names);
  await moveAll((index) => 1_000 - index);
  const [run_id = ""] = runIds;
  const ended = { run_id, status: "SUCCEEDED", epoch: 2 };
  await put(nodeItem({ ...ended, node_id: "inside", output: '{"code":"V-1"}' }));
  await put(nodeItem({ ...ended, node_id: "beside", output_epoch: 2 }));
  await put(besideItem(outputKey(run_id, "beside", 2), "[1,2]"));
  const hash = contentHashOf(large);
  await put(nodeItem({ ...ended, node_id: "object", output_epoch: 2, output_blob: hash }));
  const key = outputBlobKey({ run_id, generation: "g1", node_id: "object" }, 2, hash);
  await s3Blobs({ client: objects, bucket }).put(key, large);
});

test("pages of the real index show each living run once, though it moves in the index meanwhile", async () => {
  const found: string[] = [];
  for (let page = await client.listRuns({ limit: 7 }), pages = 1; ; pages++) {
    found.push(...page.runs.map(({ runId }) => runId));
    if (page.cursor === undefined) break;
    await moveAll((index) => (index * pages * 7_919) % 3_600_000);
    page = await client.listRuns({ limit: 7, cursor: page.cursor });
  }
  expect(found.sort()).toEqual([...runIds].sort());
});

test("an output comes from the node, the item beside it, and the bucket", async () => {
  const [runId = ""] = runIds;
  expect(await client.getOutput(runId, "inside")).toEqual({ code: "V-1" });
  expect(await client.getOutput(runId, "beside")).toEqual([1, 2]);
  expect(await client.getOutput(runId, "object")).toEqual(JSON.parse(large));
});

test("without a bucket only what stands in it cannot be read", async () => {
  const [runId = ""] = runIds;
  expect(await withoutBucket.getOutput(runId, "beside")).toEqual([1, 2]);
  await expect(withoutBucket.getOutput(runId, "object")).rejects.toMatchObject({ code: "not_configured" });
});
