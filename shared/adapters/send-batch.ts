/** One SendMessageBatch and what became of each entry: an HTTP 200 can hold failed ones (API_SendMessageBatch.html). */
import { SendMessageBatchCommand, type SQSClient } from "@aws-sdk/client-sqs";
import { fixed } from "../limits.ts";
import type { Outgoing } from "../ports.ts";
import { asciiJson } from "./ascii-json.ts";

/** Whole seconds; rounded up, since a message that comes too early is a receive for nothing. */
const delaySeconds = (delayMs: number): number =>
  Math.ceil(Math.min(Math.max(delayMs, 0), fixed.messageDelayMs) / 1_000);

export type BatchOutcome = {
  /** Failed for a while: to be sent again. */
  readonly again: readonly Outgoing[];
  /** Failed by a fault of the sender: the same entry never succeeds. */
  readonly never: readonly Outgoing[];
  /** The first failure's code and message. */
  readonly why: string | undefined;
};

/** At most ten messages. Accepted is only what the answer names as such. @throws when the whole call failed. */
export async function sendBatch(
  client: SQSClient,
  queueUrl: string,
  messages: readonly Outgoing[],
): Promise<BatchOutcome> {
  const { Successful = [], Failed = [] } = await client.send(
    new SendMessageBatchCommand({
      QueueUrl: queueUrl,
      Entries: messages.map(({ dispatch, delayMs }, place) => ({
        // A position and never a caller's id: an entry's id may hold only letters, digits, - and _ (API_SendMessageBatch.html).
        Id: String(place),
        MessageBody: asciiJson(dispatch),
        DelaySeconds: delaySeconds(delayMs),
      })),
    }),
  );
  const accepted = new Set(Successful.map((entry) => entry.Id));
  const hopeless = new Set(Failed.filter((entry) => entry.SenderFault === true).map((entry) => entry.Id));
  const left = messages.map((message, place) => ({ message, id: String(place) })).filter(({ id }) => !accepted.has(id));
  const [failed] = Failed;
  return {
    again: left.filter(({ id }) => !hopeless.has(id)).map(({ message }) => message),
    never: left.filter(({ id }) => hopeless.has(id)).map(({ message }) => message),
    why: failed && `${failed.Code ?? "?"}: ${failed.Message ?? ""}`,
  };
}
