/** The queues in SQS: dispatches, and the place where rejected input is kept. */
import { ChangeMessageVisibilityCommand, SendMessageCommand, type SQSClient } from "@aws-sdk/client-sqs";
import { fixed } from "../limits.ts";
import type { Chance, Clock, Log, Outgoing, Queue } from "../ports.ts";
import { reasonOf } from "./failed-try.ts";
import { rejectionMessages } from "./rejection-messages.ts";
import { sendBatch } from "./send-batch.ts";

export type SqsQueueOptions = {
  /** From `sqsClient` or `sqsHeartbeatClient`. */
  readonly client: SQSClient;
  /** Each function is given only the queues it uses; a call that needs another one throws and names the setting. */
  readonly dispatchUrl?: string;
  /** Dispatch queues of the pools, by the pool's name. @default none */
  readonly poolUrls?: Readonly<Record<string, string>>;
  readonly rejectedUrl?: string;
  readonly clock: Clock;
  readonly chance: Chance;
  /** Told why messages were not accepted. */
  readonly log?: Log;
};

/** Sends of one batch's failed entries, on top of the SDK's own tries of a failed call. */
const sendsPerBatch = 4;
const firstPauseMs = 100;
/** As many calls in a row that fail as a whole mean that the next ones would too, and only spend the invocation's time. */
const failedCallsToStop = 2;

/** Whole seconds; rounded up, since a message that is seen too early is a receive for nothing. */
const visibilitySeconds = (forMs: number): number =>
  Math.ceil(Math.min(Math.max(forMs, 0), fixed.visibilityMs) / 1_000);

function needed(url: string | undefined, setting: "dispatchUrl" | "rejectedUrl"): string {
  if (url === undefined || url === "") throw new Error(`this queue was made without ${setting}`);
  return url;
}

const batchesOf = (messages: readonly Outgoing[]): readonly (readonly Outgoing[])[] =>
  Array.from({ length: Math.ceil(messages.length / fixed.sendBatch) }, (_, batch) =>
    messages.slice(batch * fixed.sendBatch, (batch + 1) * fixed.sendBatch),
  );

export function sqsQueue(options: SqsQueueOptions): Queue {
  const { client, dispatchUrl, rejectedUrl, clock, chance, log } = options;
  const poolUrls = new Map(Object.entries(options.poolUrls ?? {}));

  /**
   * A pool without a queue was taken out of the deployment while nodes of it lived. They must not strand: the main worker has
   * their tools if these were moved there; if not, it says so, and ends the nodes at their run's deadline.
   */
  const byQueue = (messages: readonly Outgoing[]): ReadonlyMap<string, readonly Outgoing[]> => {
    const groups = new Map<string, Outgoing[]>();
    const lost = new Map<string, number>();
    for (const message of messages) {
      const { pool } = message;
      const poolUrl = pool === undefined ? undefined : poolUrls.get(pool);
      if (pool !== undefined && poolUrl === undefined) lost.set(pool, (lost.get(pool) ?? 0) + 1);
      const queueUrl = poolUrl ?? needed(dispatchUrl, "dispatchUrl");
      const group = groups.get(queueUrl);
      if (group === undefined) groups.set(queueUrl, [message]);
      else group.push(message);
    }
    for (const [pool, count] of lost)
      log?.warn("pool has no queue here, its messages go to the main worker's", { pool, count });
    return groups;
  };

  /** What was not accepted of all messages to one queue: one that does not answer holds up no other. */
  async function sendAll(queueUrl: string, messages: readonly Outgoing[]): Promise<readonly Outgoing[]> {
    const unsent: Outgoing[] = [];
    let failedCalls = 0;
    for (const batch of batchesOf(messages)) {
      if (failedCalls >= failedCallsToStop) {
        unsent.push(...batch);
        continue;
      }
      const result = await sendOne(queueUrl, batch);
      unsent.push(...result.unsent);
      failedCalls = result.callFailed ? failedCalls + 1 : 0;
    }
    return unsent;
  }

  /** What was not accepted of one batch, and whether its last call failed as a whole. */
  async function sendOne(queueUrl: string, batch: readonly Outgoing[]) {
    const never: Outgoing[] = [];
    let left = batch;
    for (let send = 0; ; send += 1) {
      try {
        const outcome = await sendBatch(client, queueUrl, left);
        left = outcome.again;
        never.push(...outcome.never);
        if (outcome.never.length > 0)
          log?.error("messages refused for good", { why: outcome.why, count: never.length });
        if (left.length === 0) return { unsent: never, callFailed: false };
        if (send + 1 >= sendsPerBatch) {
          log?.warn("messages not accepted", { why: outcome.why, count: left.length });
          return { unsent: [...never, ...left], callFailed: false };
        }
      } catch (error) {
        log?.warn("a batch could not be sent", { why: reasonOf(error), count: left.length });
        return { unsent: [...never, ...left], callFailed: true };
      }
      await clock.sleep(chance.fraction() * firstPauseMs * 2 ** send);
    }
  }

  return {
    send: async (messages) => {
      const unsent: Outgoing[] = [];
      for (const [queueUrl, group] of byQueue(messages)) unsent.push(...(await sendAll(queueUrl, group)));
      return unsent;
    },

    reject: async (rejection) => {
      const queueUrl = needed(rejectedUrl, "rejectedUrl");
      for (const { body, attributes } of rejectionMessages(rejection, chance.id()))
        await client.send(
          new SendMessageCommand({
            QueueUrl: queueUrl,
            MessageBody: body,
            MessageAttributes: Object.fromEntries(
              Object.entries(attributes).map(([name, value]) => [name, { DataType: "String", StringValue: value }]),
            ),
          }),
        );
    },

    hide: async (receiptHandle, forMs) => {
      await client.send(
        new ChangeMessageVisibilityCommand({
          QueueUrl: needed(dispatchUrl, "dispatchUrl"),
          ReceiptHandle: receiptHandle,
          VisibilityTimeout: visibilitySeconds(forMs),
        }),
      );
    },
  };
}
