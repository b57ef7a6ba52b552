/** From a DynamoDB stream event to outbox entries. */
import type { DynamoDBRecord, DynamoDBStreamEvent } from "aws-lambda";
import { streamImage } from "../../shared/adapters/stored-item.ts";
import { type BatchResponse, eachRecord } from "../../shared/each-record.ts";
import type { OutboxItem } from "../../shared/outbox.ts";
import type { World } from "../../shared/ports.ts";
import { readEntry, relayEntry } from "../../shared/relay.ts";

/** Entries side by side: nothing rests on their order (I12). */
const sideBySide = 10;

export const relayHandler =
  (world: World) =>
  (event: DynamoDBStreamEvent): Promise<BatchResponse> =>
    eachRecord(event.Records, {
      sideBySide,
      log: world.log,
      identify: (record) => record.dynamodb?.SequenceNumber ?? "",
      handle: async (record) => {
        const entry = await entryOf(world, record);
        if (entry !== undefined) await relayEntry(world, entry);
        return true;
      },
    });

/**
 * The mapping's filter lets only outbox entries pass, and is not trusted (I12): removals, which TTL makes too, have no new
 * image. An entry that cannot be read never will be: it is kept with its reason and blocks nobody.
 */
async function entryOf(world: World, record: DynamoDBRecord): Promise<OutboxItem | undefined> {
  const image = record.dynamodb?.NewImage;
  if (image?.kind?.S !== "outbox") return undefined;
  try {
    return readEntry(streamImage(image));
  } catch (error) {
    await world.queue.reject({ body: JSON.stringify(image), source: "stream", reason: String(error) });
    world.count("EntryRejected");
    return undefined;
  }
}
