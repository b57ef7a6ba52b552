/**
 * A doubt outlives its run's deadline for as long as nobody resolves it. The node and the run have no time to live then;
 * what waits for them, and what they and it were given, would still expire one by one and leave nobody to go on with.
 */
import { nodePrefix, runPartition } from "./keys.ts";
import type { Limits } from "./limits.ts";
import type { RunItem } from "./model.ts";
import type { World } from "./ports.ts";
import { settle } from "./settle.ts";
import { prolong } from "./transitions.ts";

const budgetMs = 5_000;
const prefixes: readonly string[] = [nodePrefix, "INPUT#", "DEPENDENTS#", "OUTPUT#", "JOURNAL#"];

/** Gives every item of a run in doubt that is past half of its retention a whole one again. A look an hour is often enough. */
export async function prolongRun(world: World, run: RunItem, limits: Limits): Promise<void> {
  const nowMs = world.clock.nowMs();
  const expiresAt = Math.ceil((nowMs + limits.retentionMs) / 1_000);
  const soon = (nowMs + limits.retentionMs / 2) / 1_000;
  for (const prefix of prefixes) {
    for (const item of await world.table.query(runPartition(run.run_id), prefix)) {
      const isOfRun = item.generation === run.generation && item.v === 1;
      if (!isOfRun || typeof item.expires_at !== "number" || item.expires_at > soon) continue;
      const key = { pk: String(item.pk), sk: String(item.sk) };
      // Refused: it has changed or gone meanwhile, and the next look sees it as it is then.
      await settle(world, budgetMs, () => world.table.write(prolong(key, run.generation, expiresAt)));
    }
  }
}
