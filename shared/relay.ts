/** Carries out one outbox entry: advances whom an end set free, sends every message, and says so only when all is done. */
import { advanceNode, advanceTheRun } from "./advance.ts";
import { readItem } from "./model.ts";
import { advancesOf, messagesOf, type OutboxItem, outboxItemSchema } from "./outbox.ts";
import type { Outgoing, World } from "./ports.ts";

/** @throws Error when the entry is not what this version writes: it can never be carried out. */
export const readEntry = (image: unknown): OutboxItem => {
  const entry = readItem(outboxItemSchema, image);
  messagesOf(entry, 0);
  advancesOf(entry);
  return entry;
};

/**
 * The stream's record stays until this resolves, so a pass that dies anywhere is done again from its start.
 * @throws Error when something is still to be done: the record must come again.
 */
export async function relayEntry(world: World, entry: OutboxItem): Promise<void> {
  const outgoing: Outgoing[] = [...messagesOf(entry, world.clock.nowMs())];
  if (entry.ordinal !== undefined) {
    const ended = {
      runId: entry.run_id,
      generation: entry.generation,
      ordinals: new Set([entry.ordinal]),
      failed: entry.failed === true,
    };
    for (const nodeId of advancesOf(entry)) outgoing.push(...(await advanceNode(world, ended, nodeId)));
    if (entry.advance_run) await advanceTheRun(world, ended);
  }
  const unsent = await world.queue.send(outgoing);
  world.count("MessagesSent", outgoing.length - unsent.length);
  if (unsent.length > 0)
    throw new Error(`${unsent.length} of ${outgoing.length} messages were not accepted by the queue`);
}
