/** When each node became READY, was claimed, ran and ended: read afterwards from the table's own stream. */
import { DescribeTableCommand } from "@aws-sdk/client-dynamodb";
import { z } from "zod";
import { localRegion } from "../../../cli/local/local-env.ts";
import { dynamoClient } from "../../../shared/adapters/dynamo-client.ts";
import { streamImage } from "../../../shared/adapters/stored-item.ts";
import { type NodeItem, nodeItemSchema, readItem } from "../../../shared/model.ts";
import { askAws } from "./aws-json.ts";

/** Wall-clock times of one machine. */
export type Life = {
  readonly readyAtMs: number;
  readonly claimedAtMs: number;
  /** As the tool `stamp` said itself. */
  readonly ranAtMs: number;
  readonly endedAtMs: number;
};

const iteratorSchema = z.object({ ShardIterator: z.string() });
const shardsSchema = z.object({ StreamDescription: z.object({ Shards: z.array(z.object({ ShardId: z.string() })) }) });
/** A value in the form of the wire: the table holds strings, numbers as text, booleans and number sets. */
const valueSchema = z.union([
  z.object({ S: z.string() }),
  z.object({ N: z.string() }),
  z.object({ BOOL: z.boolean() }),
  z.object({ NS: z.array(z.string()) }),
]);
const recordsSchema = z.object({
  Records: z.array(z.object({ dynamodb: z.object({ NewImage: z.record(z.string(), valueSchema).optional() }) })),
  NextShardIterator: z.string().optional(),
});
const stampedSchema = z.object({ at_ms: z.int() });

const target = (action: string): string => `DynamoDBStreams_20120810.${action}`;

/** By run, then by node. Every node must have succeeded at its first attempt. */
export async function livesIn(
  endpoint: string,
  tableName: string,
  runIds: readonly string[],
): Promise<ReadonlyMap<string, ReadonlyMap<string, Life>>> {
  const images = await nodeImages(endpoint, tableName);
  return new Map(
    runIds.map((runId) => {
      const ofRun = images.filter((node) => node.run_id === runId);
      const ids = [...new Set(ofRun.map((node) => node.node_id))];
      return [runId, new Map(ids.map((id) => [id, lifeOf(ofRun.filter((node) => node.node_id === id))]))];
    }),
  );
}

/** From the images of one node, in their order. */
function lifeOf(images: readonly NodeItem[]): Life {
  const ready = images.find((node) => node.status === "READY");
  const claimed = images.find((node) => node.status === "RUNNING");
  const ended = images.find((node) => node.status === "SUCCEEDED");
  const { ready_at_ms: readyAtMs } = ready ?? {};
  const { open_since_ms: claimedAtMs, epoch } = claimed ?? {};
  const { ended_at_ms: endedAtMs, output } = ended ?? {};
  if (readyAtMs === undefined || claimedAtMs === undefined || endedAtMs === undefined || epoch !== 1)
    throw new Error(`node ${images[0]?.node_id} did not succeed at its first attempt, or the stream does not show it`);
  return { readyAtMs, claimedAtMs, ranAtMs: stampedSchema.parse(JSON.parse(output ?? "{}")).at_ms, endedAtMs };
}

async function nodeImages(endpoint: string, tableName: string): Promise<readonly NodeItem[]> {
  const client = dynamoClient({
    endpoint,
    region: localRegion,
    credentials: { accessKeyId: "test", secretAccessKey: "test" },
  });
  const { Table: described } = await client.send(new DescribeTableCommand({ TableName: tableName }));
  client.destroy();
  const StreamArn = described?.LatestStreamArn;
  if (StreamArn === undefined) throw new Error(`table ${tableName} has no stream`);
  const ask = (action: string, body: object) => askAws(endpoint, "dynamodb", target(action), body);
  const { StreamDescription } = shardsSchema.parse(await ask("DescribeStream", { StreamArn }));
  const images: NodeItem[] = [];
  for (const { ShardId } of StreamDescription.Shards) {
    const asked = { StreamArn, ShardId, ShardIteratorType: "TRIM_HORIZON" };
    let { ShardIterator } = iteratorSchema.parse(await ask("GetShardIterator", asked));
    for (;;) {
      const { Records, NextShardIterator } = recordsSchema.parse(await ask("GetRecords", { ShardIterator }));
      for (const { dynamodb } of Records) {
        const image = streamImage(dynamodb.NewImage ?? {});
        if (image.kind === "node") images.push(readItem(nodeItemSchema, image));
      }
      // An open shard has always one more page: an empty one is the end for now.
      if (NextShardIterator === undefined || Records.length === 0) break;
      ShardIterator = NextShardIterator;
    }
  }
  return images;
}
