/** What became of a start: an item of the table, under the command's id. */
import { setTimeout } from "node:timers/promises";
import { type DynamoDBClient, GetItemCommand } from "@aws-sdk/client-dynamodb";

export type Refusal = {
  readonly code: string;
  readonly node?: string;
  readonly field?: string;
  readonly rule: string;
  readonly value?: string;
};
export type Answer = { readonly outcome: "accepted" } | { readonly outcome: "refused"; readonly refusal: Refusal };

const pauseMs = 200;

/** @throws Error where there is none in time; the start stands all the same, and will be answered. */
export async function readAnswer(
  client: DynamoDBClient,
  table: string,
  commandId: string,
  timeoutMs = 30_000,
): Promise<Answer> {
  const question = new GetItemCommand({
    TableName: table,
    Key: { pk: { S: `COMMAND#${commandId}` }, sk: { S: "COMMAND" } },
    ConsistentRead: true,
  });
  for (const giveUpAtMs = performance.now() + timeoutMs; performance.now() < giveUpAtMs; await setTimeout(pauseMs)) {
    const { Item: item } = await client.send(question);
    if (item === undefined) continue;
    const refusal = item.refusal?.S;
    return refusal === undefined ? { outcome: "accepted" } : { outcome: "refused", refusal: JSON.parse(refusal) };
  }
  throw new Error(`command ${JSON.stringify(commandId)} was not answered within ${timeoutMs} ms`);
}
