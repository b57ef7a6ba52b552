/** What the contract for values takes comes back equal through every place where a value is kept or sent. */
import { randomUUID } from "node:crypto";
import { CreateQueueCommand, ReceiveMessageCommand } from "@aws-sdk/client-sqs";
import fc from "fast-check";
import { describe, expect, inject, test } from "vitest";
import { asciiJson } from "../../shared/adapters/ascii-json.ts";
import { commandQueue, commandQueueClient } from "../../shared/adapters/command-queue.ts";
import { dynamoTable } from "../../shared/adapters/dynamo-table.ts";
import { memoryBlobs } from "../../shared/adapters/memory-blobs.ts";
import { memoryTable } from "../../shared/adapters/memory-table.ts";
import { s3Blobs } from "../../shared/adapters/s3-blobs.ts";
import { inputOf, outputTextOf } from "../../shared/beside.ts";
import { checkedOutput } from "../../shared/execute.ts";
import type { Json } from "../../shared/json.ts";
import { nodeKey } from "../../shared/keys.ts";
import { fixed, limitsWith } from "../../shared/limits.ts";
import { nodeItemSchema, readItem, startRunSchema } from "../../shared/model.ts";
import type { Blobs, Table } from "../../shared/ports.ts";
import { recordResult } from "../../shared/record.ts";
import { startRun } from "../../shared/start.ts";
import type { Item } from "../../shared/write.ts";
import { acceptedJson } from "../support/json-values.ts";
import { itemOf, runningWith, toolsOf, toolWith } from "../support/world.ts";
import { emulatorBucket } from "./emulator-bucket.ts";
import { emulatorTable, local } from "./emulator-table.ts";

type Stores = { readonly table: Table; readonly blobs: Blobs };
const inMemory = async (): Promise<Stores> => ({ table: memoryTable(), blobs: memoryBlobs() });
const onEmulator = async (): Promise<Stores> => ({
  table: dynamoTable(await emulatorTable(inject("endpoint"))),
  blobs: s3Blobs(await emulatorBucket(inject("endpoint"))),
});

/** Filled up so that it stands in its node, in an item beside it, or in an object. */
const fillings = { "in its node": 0, "in an item beside it": 2_000, "in an object": fixed.outputBesideBytes } as const;

/** As an attempt's owner writes it and a dependent's reads it. */
async function throughOutput({ table, blobs }: Stores, value: Json): Promise<unknown> {
  const outcome = await checkedOutput(toolWith(), value);
  if (outcome.is !== "succeeded") throw new Error(JSON.stringify(outcome));
  const node = runningWith({ run_id: randomUUID() });
  const { record, before, blob } = recordResult(node, outcome.output, undefined);
  if (blob !== undefined) await blobs.put(blob.key, blob.text);
  for (const write of before) await table.write(write);
  const { pk: _p, sk: _s, ...item } = itemOf({ ...node, ...record.set });
  const key = nodeKey(node.run_id, node.node_id);
  await table.write({ op: "put", name: "create_node", key, item: item as Item, conditions: [] });
  const text = await outputTextOf({ table, blobs }, readItem(nodeItemSchema, await table.get(key)));
  return text === undefined ? undefined : JSON.parse(text);
}

/** As the commands' handler writes it and the worker reads it. */
async function throughInput({ table }: Stores, value: Json): Promise<unknown> {
  const run_id = randomUUID();
  const command = startRunSchema.parse({
    type: "start_run",
    run_id,
    nodes: [{ node_id: "a", tool: "work", input: { $literal: value } }],
  });
  const limits = limitsWith();
  const tools = toolsOf(toolWith());
  const writes = await startRun({ command, commandId: run_id, tools, limits, nowMs: 1, generation: "g" });
  if (!("length" in writes)) throw new Error(JSON.stringify(writes));
  await table.transact(writes);
  return inputOf(table, readItem(nodeItemSchema, await table.get(nodeKey(run_id, "a"))));
}

describe.each([
  ["in memory", inMemory, 200],
  ["in DynamoDB and S3", onEmulator, 40],
] as const)("a value that is kept %s", (_name, stores, numRuns) => {
  test.each(Object.entries(fillings))("comes back equal as an output that stands %s", async (_place, filling) => {
    const kept = await stores();
    await fc.assert(
      fc.asyncProperty(acceptedJson, async (value) => {
        const whole: Json = filling === 0 ? value : [value, "é".repeat(filling / 2)];
        expect(await throughOutput(kept, whole)).toEqual(whole);
      }),
      { numRuns },
    );
  });

  test("comes back equal as an input, in the node and beside it", async () => {
    const kept = await stores();
    await fc.assert(
      fc.asyncProperty(acceptedJson, fc.constantFrom("", "é".repeat(1_000)), async (value, filling) => {
        const whole: Json = [value, filling];
        expect(await throughInput(kept, whole)).toEqual({ $literal: whole });
      }),
      { numRuns },
    );
  });
});

test("a value in a message comes back equal from the queue", async () => {
  const client = commandQueueClient({ endpoint: inject("endpoint"), ...local });
  const { QueueUrl: queueUrl = "" } = await client.send(
    new CreateQueueCommand({ QueueName: `values-${randomUUID()}` }),
  );
  const send = commandQueue({ client, queueUrl });
  await fc.assert(
    fc.asyncProperty(fc.array(acceptedJson, { minLength: 3, maxLength: 3 }), async (input) => {
      await send(asciiJson({ input }));
      const { Messages } = await client.send(new ReceiveMessageCommand({ QueueUrl: queueUrl, WaitTimeSeconds: 2 }));
      expect(JSON.parse(Messages?.[0]?.Body ?? "null")).toEqual({ input });
    }),
    { numRuns: 40 },
  );
});
