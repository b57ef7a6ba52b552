/** The table in DynamoDB. */
import type { ConditionalCheckFailedException, TransactionCanceledException } from "@aws-sdk/client-dynamodb";
import {
  type DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  paginateQuery,
  TransactWriteCommand,
  UpdateCommand,
} from "@aws-sdk/lib-dynamodb";
import type { Busy, Table, TransactAnswer, Unknown, WriteAnswer } from "../ports.ts";
import type { Item, Key, Put, Update } from "../write.ts";
import { applyWrite } from "./apply-write.ts";
import { cancellationAnswer } from "./cancellation.ts";
import { putParameters, transactItem, updateParameters } from "./expression.ts";
import { failedTry, reasonOf } from "./failed-try.ts";
import { refusedItem, storedItem } from "./stored-item.ts";
import { belowRetries, type Tries, tries } from "./tries.ts";
import { checkTransaction, checkWrite } from "./write-fault.ts";

/** Sparse, keys only: `scan_shard` (number) and `scan_at_ms` (number). */
export const scanIndexName = "scan";

export type DynamoTableOptions = {
  /** From `dynamoClient` or `dynamoHeartbeatClient`. */
  readonly client: DynamoDBDocumentClient;
  readonly tableName: string;
};

/** The names were looked at by `failedTry`; a class could be another copy's. */
const isRefusal = (error: unknown): error is ConditionalCheckFailedException => failedTry(error) === "refused";
const isCancellation = (error: unknown): error is TransactionCanceledException => failedTry(error) === "cancelled";

/** Busy is only what is surely not applied: not where an earlier try of the same call was lost. @throws the error that no repeat would change. */
function undecided(error: unknown, seen: Tries): Busy | Unknown {
  const failed = failedTry(error);
  if (failed === "unknown" || (failed === "busy" && seen.lostOne())) return { is: "unknown", why: reasonOf(error) };
  if (failed === "busy") return { is: "busy", why: reasonOf(error) };
  throw error;
}

export function dynamoTable({ client, tableName }: DynamoTableOptions): Table {
  /** Sends and gives the item as it is afterwards. */
  async function sendPut(write: Put, seen: Tries): Promise<Item> {
    const command = new PutCommand(putParameters(write, tableName));
    command.middlewareStack.add(seen.watch, belowRetries);
    await client.send(command);
    return applyWrite(write, undefined);
  }

  async function sendUpdate(write: Update, seen: Tries): Promise<Item> {
    const command = new UpdateCommand(updateParameters(write, tableName));
    command.middlewareStack.add(seen.watch, belowRetries);
    const { Attributes } = await client.send(command);
    if (Attributes === undefined) throw new Error(`update ${write.name} was answered without the item`);
    return storedItem(Attributes);
  }

  return {
    get: async (key) => {
      const { Item: found } = await client.send(
        new GetCommand({ TableName: tableName, Key: keyOf(key), ConsistentRead: true }),
      );
      return found && storedItem(found);
    },

    query: async (pk, skPrefix) => {
      const pages = paginateQuery(
        { client },
        {
          TableName: tableName,
          ConsistentRead: true,
          KeyConditionExpression: skPrefix === "" ? "#pk = :pk" : "#pk = :pk AND begins_with(#sk, :prefix)",
          ExpressionAttributeNames: { "#pk": "pk", ...(skPrefix !== "" && { "#sk": "sk" }) },
          ExpressionAttributeValues: { ":pk": pk, ...(skPrefix !== "" && { ":prefix": skPrefix }) },
        },
      );
      const items: Item[] = [];
      for await (const page of pages) items.push(...(page.Items ?? []).map(storedItem));
      return items;
    },

    dueRuns: async (shard, dueAtMs, limit) => {
      if (limit <= 0) return [];
      const pages = paginateQuery(
        { client },
        {
          TableName: tableName,
          IndexName: scanIndexName,
          KeyConditionExpression: "#shard = :shard AND #at <= :at",
          ExpressionAttributeNames: { "#shard": "scan_shard", "#at": "scan_at_ms" },
          ExpressionAttributeValues: { ":shard": shard, ":at": dueAtMs },
          Limit: limit,
        },
      );
      const due: string[] = [];
      for await (const page of pages) {
        for (const found of page.Items ?? []) if (typeof found.pk === "string") due.push(found.pk);
        if (due.length >= limit) break;
      }
      return due.slice(0, limit);
    },

    write: async (write): Promise<WriteAnswer> => {
      checkWrite(write);
      const seen = tries();
      try {
        const item = write.op === "put" ? await sendPut(write, seen) : await sendUpdate(write, seen);
        return { is: "applied", item };
      } catch (error) {
        if (isRefusal(error)) return { is: "refused", old: refusedItem(error.Item) };
        return undecided(error, seen);
      }
    },

    transact: async (writes): Promise<TransactAnswer> => {
      checkTransaction(writes);
      const seen = tries();
      // The SDK gives each `send` a token of its own and keeps it over its tries, so a repeat after a lost answer is not a
      // second transaction (API_TransactWriteItems.html).
      const command = new TransactWriteCommand({
        TransactItems: writes.map((write) => transactItem(write, tableName)),
      });
      command.middlewareStack.add(seen.watch, belowRetries);
      try {
        await client.send(command);
        return { is: "applied" };
      } catch (error) {
        if (!isCancellation(error)) return undecided(error, seen);
        const answer = cancellationAnswer(writes, error.CancellationReasons ?? []);
        return answer.is === "busy" && seen.lostOne() ? { is: "unknown", why: answer.why } : answer;
      }
    },
  };
}

/** Callers may hand in an item as key; only the key may be sent. */
const keyOf = (key: Key): Record<string, string> => ({ pk: key.pk, sk: key.sk });
