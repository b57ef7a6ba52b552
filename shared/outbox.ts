/** The outbox entry: what must be sent and who must be advanced, written in the transaction of the state that needs it (I1). */
import * as z from "zod";
import { outboxKey } from "./keys.ts";
import { fixed } from "./limits.ts";
import { dispatchIdSchema, idSchema, keyFields, version, wholeNumber } from "./model.ts";
import { poolNameSchema } from "./names.ts";
import type { Outgoing } from "./ports.ts";
import type { Put } from "./write.ts";

/** Durable intent: the messages to send, and whom the end of `ordinal` sets free. */
export const outboxItemSchema = z.object({
  ...keyFields,
  kind: z.literal("outbox"),
  v: version,
  run_id: idSchema,
  generation: z.string(),
  /** JSON text of a list of `[node_id, dispatch_id, not_before_ms]`, and a node's pool after these where it has one. */
  messages: z.string(),
  /** The node that ended; missing where none did. */
  ordinal: wholeNumber.optional(),
  /** Whether that node ended otherwise than SUCCEEDED. */
  failed: z.boolean().optional(),
  /** JSON text of the node ids to advance. */
  advances: z.string(),
  /** The run waits for this node itself. */
  advance_run: z.boolean(),
  created_at_ms: wholeNumber,
  expires_at: wholeNumber,
});
export type OutboxItem = z.infer<typeof outboxItemSchema>;

const outboxMessagesSchema = z.array(z.tuple([idSchema, dispatchIdSchema, wholeNumber, poolNameSchema.optional()]));
const outboxAdvancesSchema = z.array(idSchema);

export type IntendedMessage = {
  readonly nodeId: string;
  readonly dispatchId: string;
  readonly notBeforeMs: number;
  /** Undefined for the main worker. */
  readonly pool?: string | undefined;
};

export type Intent = {
  readonly messages: readonly IntendedMessage[];
  /** The node that ended, whom its end sets free, and whether the run itself waits for it. */
  readonly ended?: {
    readonly ordinal: number;
    readonly failed: boolean;
    readonly advances: readonly string[];
    readonly advanceRun: boolean;
  };
};

export const isEmpty = (intent: Intent): boolean =>
  intent.messages.length === 0 &&
  (intent.ended === undefined || (intent.ended.advances.length === 0 && !intent.ended.advanceRun));

/** `cause` names the transition and its epoch: one key for one intent, so a repeat of the transaction makes no second entry. */
export function putOutbox(runId: string, generation: string, cause: string, intent: Intent, nowMs: number): Put {
  return {
    op: "put",
    name: "outbox",
    key: outboxKey(runId, generation, cause),
    item: {
      kind: "outbox",
      v: 1,
      run_id: runId,
      generation,
      messages: JSON.stringify(
        intent.messages.map(({ nodeId, dispatchId, notBeforeMs, pool }) => [
          nodeId,
          dispatchId,
          notBeforeMs,
          ...(pool === undefined ? [] : [pool]),
        ]),
      ),
      advances: JSON.stringify(intent.ended?.advances ?? []),
      advance_run: intent.ended?.advanceRun ?? false,
      ...(intent.ended === undefined ? {} : { ordinal: intent.ended.ordinal, failed: intent.ended.failed }),
      created_at_ms: nowMs,
      expires_at: Math.ceil((nowMs + fixed.outboxRetentionMs) / 1_000),
    },
    conditions: [],
  };
}

/** Messages of an entry, each with what is left of its delay. @throws where the entry is not what this version writes. */
export function messagesOf(entry: OutboxItem, nowMs: number): readonly Outgoing[] {
  return outboxMessagesSchema.parse(JSON.parse(entry.messages)).map(([nodeId, dispatchId, notBeforeMs, pool]) => ({
    dispatch: { run_id: entry.run_id, node_id: nodeId, dispatch_id: dispatchId },
    delayMs: Math.max(0, notBeforeMs - nowMs),
    pool,
  }));
}

export const advancesOf = (entry: OutboxItem): readonly string[] =>
  outboxAdvancesSchema.parse(JSON.parse(entry.advances));
