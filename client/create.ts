import { systemChance } from "../shared/adapters/chance.ts";
import { systemClock } from "../shared/adapters/clock.ts";
import { commandQueue, commandQueueClient, type SendCommand } from "../shared/adapters/command-queue.ts";
import { dynamoClient } from "../shared/adapters/dynamo-client.ts";
import { dynamoTable } from "../shared/adapters/dynamo-table.ts";
import { stackOutputs } from "../shared/adapters/stack-outputs.ts";
import { type Client, clientOver } from "./client.ts";
import { findPlace, type PlaceOptions } from "./place.ts";
import type { ReadableTable } from "./read-run.ts";

/**
 * A client of one deployment. Endpoint, region and credentials come from the SDK's standard environment; table and queue
 * are looked for at the first call, so a wrong place shows there and not here.
 */
export function createClient(options: PlaceOptions = {}): Client {
  const connected = onceSucceeded(() => connect(options));
  const table: ReadableTable = {
    get: async (key) => (await connected()).table.get(key),
    query: async (pk, skPrefix) => (await connected()).table.query(pk, skPrefix),
    dueRuns: async (shard, dueAtMs, limit) => (await connected()).table.dueRuns(shard, dueAtMs, limit),
  };
  const send: SendCommand = async (body, signal) => (await connected()).send(body, signal);
  return clientOver({ table, send, clock: systemClock, newId: systemChance.id });
}

async function connect(options: PlaceOptions): Promise<{ readonly table: ReadableTable; readonly send: SendCommand }> {
  const { tableName, commandsQueueUrl } = await findPlace(options, process.env, stackOutputs({}));
  return {
    table: dynamoTable({ client: dynamoClient(), tableName }),
    send: commandQueue({ client: commandQueueClient(), queueUrl: commandsQueueUrl }),
  };
}

/** A failed look-up is not remembered: the next call may find what has been deployed since. */
function onceSucceeded<Value>(make: () => Promise<Value>): () => Promise<Value> {
  let made: Promise<Value> | undefined;
  return () => {
    made ??= make().catch((error: unknown) => {
      made = undefined;
      throw error;
    });
    return made;
  };
}
