/** What a call of a function is for, in words: the same for the same call of another run of the same graph. */
import { z } from "zod";
import type { FunctionName } from "../support/e2e-stacks.ts";
import type { FaultProxy, ProxiedCall } from "../support/fault-proxy.ts";

const keySchema = z.object({ sk: z.object({ S: z.string() }) });
const updateSchema = z.object({
  Key: keySchema,
  UpdateExpression: z.string(),
  ExpressionAttributeNames: z.record(z.string(), z.string()),
});
const transactionSchema = z.object({
  TransactItems: z.array(
    z.union([
      z.object({ Put: z.object({ Item: keySchema }) }).transform(({ Put }) => Put.Item.sk.S),
      z.object({ Update: z.object({ Key: keySchema }) }).transform(({ Update }) => Update.Key.sk.S),
    ]),
  ),
});
const batchSchema = z.object({ Entries: z.array(z.object({ MessageBody: z.string() })) });
const messageSchema = z.object({ node_id: z.string() });

/** An attribute that only one kind of update names. */
const telling: readonly (readonly [attribute: string, purpose: string])[] = [
  ["max_attempts", "claim"],
  ["scanned_at_ms", "note the look"],
  ["ended_at_ms", "end"],
  ["ready_at_ms", "make READY"],
  ["lease_expires_at_ms", "heartbeat"],
];

function purposeOf(body: unknown): string {
  const { Key, UpdateExpression, ExpressionAttributeNames } = updateSchema.parse(body);
  const named = new Set(Object.values(ExpressionAttributeNames));
  const purpose = telling.find(([attribute]) => named.has(attribute))?.[1];
  return `${UpdateExpression.startsWith("DELETE") ? "advance" : (purpose ?? "update")} ${Key.sk.S}`;
}

const isIndexQuery = (call: ProxiedCall): boolean => call.action === "Query" && call.text.includes('"IndexName"');

export function callName(call: ProxiedCall): string {
  switch (call.action) {
    case "UpdateItem":
      return `UpdateItem: ${purposeOf(call.body)}`;
    case "TransactWriteItems": {
      const [first = ""] = transactionSchema.parse(call.body).TransactItems;
      return `TransactWriteItems: ${first === "RUN" ? "start" : "commit"} ${first}`;
    }
    case "GetItem":
      return `GetItem: ${z.object({ Key: keySchema }).parse(call.body).Key.sk.S}`;
    case "SendMessageBatch": {
      const nodes = batchSchema
        .parse(call.body)
        .Entries.map(({ MessageBody }) => messageSchema.parse(JSON.parse(MessageBody)).node_id);
      return `SendMessageBatch: ${nodes.sort().join()}`;
    }
    case "Query":
      return isIndexQuery(call) ? "Query: due runs of a shard" : "Query: the run's nodes";
    default:
      return call.action;
  }
}

/** The nth call of this name that a function makes for one run. */
export type NamedCall = { readonly of: FunctionName; readonly name: string; readonly nth: number };

/**
 * Which calls are made for a run. Two kinds do not name it: a worker's change of a message's visibility, which is this
 * run's where the stack has no other, and a scanner's look for due runs, which is every run's.
 */
export const isFor =
  (runId: string) =>
  (call: ProxiedCall): boolean =>
    call.action === "ChangeMessageVisibility" || isIndexQuery(call) || call.text.includes(runId);

/** Each call that a function has made for a run, in their order. */
export function namedCalls(of: FunctionName, proxy: FaultProxy, runId: string): readonly NamedCall[] {
  const seen = new Map<string, number>();
  return proxy.calls.filter(isFor(runId)).map((call) => {
    const name = callName(call);
    const nth = (seen.get(name) ?? 0) + 1;
    seen.set(name, nth);
    return { of, name, nth };
  });
}
