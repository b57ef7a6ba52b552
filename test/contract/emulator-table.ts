/** A table of the project's shape on the local emulator, one for each test file. */
import { randomUUID } from "node:crypto";
import { CreateTableCommand } from "@aws-sdk/client-dynamodb";
import type { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { dynamoClient } from "../../shared/adapters/dynamo-client.ts";
import { scanIndexName } from "../../shared/adapters/dynamo-table.ts";

/** The emulator takes any. */
export const local = {
  region: "us-east-1",
  credentials: { accessKeyId: "test", secretAccessKey: "test" },
} as const;

export async function emulatorTable(
  endpoint: string,
): Promise<{ readonly client: DynamoDBDocumentClient; readonly tableName: string }> {
  const client = dynamoClient({ endpoint, ...local });
  const tableName = `contract-${randomUUID()}`;
  await client.send(
    new CreateTableCommand({
      TableName: tableName,
      BillingMode: "PAY_PER_REQUEST",
      AttributeDefinitions: [
        { AttributeName: "pk", AttributeType: "S" },
        { AttributeName: "sk", AttributeType: "S" },
        { AttributeName: "scan_shard", AttributeType: "N" },
        { AttributeName: "scan_at_ms", AttributeType: "N" },
      ],
      KeySchema: [
        { AttributeName: "pk", KeyType: "HASH" },
        { AttributeName: "sk", KeyType: "RANGE" },
      ],
      GlobalSecondaryIndexes: [
        {
          IndexName: scanIndexName,
          KeySchema: [
            { AttributeName: "scan_shard", KeyType: "HASH" },
            { AttributeName: "scan_at_ms", KeyType: "RANGE" },
          ],
          Projection: { ProjectionType: "KEYS_ONLY" },
        },
      ],
    }),
  );
  return { client, tableName };
}
