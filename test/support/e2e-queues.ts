/** A deployed stack's queues in a test's hands: what is in them, what has been rejected, and a way to send anything. */
import {
  DeleteMessageCommand,
  GetQueueAttributesCommand,
  GetQueueUrlCommand,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  type SQSClient,
} from "@aws-sdk/client-sqs";
import type { Dispatch } from "../../shared/ports.ts";

/** What the rejected queue keeps. */
export type Rejected = { readonly body: string; readonly source: string; readonly reason: string };
export type Depth = { readonly visible: number; readonly inFlight: number; readonly delayed: number };

export type Queues = {
  /** A text goes as it is. At most ten, which are visible at the same instant. */
  sendDispatch(...messages: readonly (Dispatch | string)[]): Promise<void>;
  sendCommands(...bodies: readonly string[]): Promise<void>;
  /** All that has been rejected since the file began. */
  rejected(): Promise<readonly Rejected[]>;
  dispatches(): Promise<Depth>;
  /** Messages of the dispatch queues and the commands queue and of their dead-letter queues, be they visible, in flight or delayed. */
  depth(): Promise<number>;
};

/** @param output gives an output of the stack. @param pooled the dispatch queues of its pools. @default none */
export async function queuesOf(
  sqs: SQSClient,
  output: (name: string) => string,
  pooled: readonly string[] = [],
): Promise<Queues> {
  const consumed = [output("CommandsQueueUrl"), output("DispatchQueueUrl"), ...pooled];
  const watched = [...consumed, ...(await Promise.all(consumed.map((url) => deadLettersOf(sqs, url))))];
  const kept: Rejected[] = [];
  return {
    sendDispatch: (...messages) =>
      sendAll(
        sqs,
        output("DispatchQueueUrl"),
        messages.map((message) => (typeof message === "string" ? message : JSON.stringify(message))),
      ),
    sendCommands: (...bodies) => sendAll(sqs, output("CommandsQueueUrl"), bodies),
    rejected: async () => {
      for (;;) {
        const taken = await take(sqs, output("RejectedQueueUrl"));
        if (taken.length === 0) return kept;
        kept.push(...taken);
      }
    },
    dispatches: () => depthOf(sqs, output("DispatchQueueUrl")),
    depth: async () => {
      const depths = await Promise.all(watched.map((url) => depthOf(sqs, url)));
      return depths.reduce((sum, { visible, inFlight, delayed }) => sum + visible + inFlight + delayed, 0);
    },
  };
}

async function sendAll(sqs: SQSClient, queueUrl: string, bodies: readonly string[]): Promise<void> {
  const entries = bodies.map((body, place) => ({ Id: String(place), MessageBody: body }));
  const { Failed = [] } = await sqs.send(new SendMessageBatchCommand({ QueueUrl: queueUrl, Entries: entries }));
  if (Failed.length > 0) throw new Error(`not sent: ${JSON.stringify(Failed)}`);
}

/** Receives some messages and deletes them. */
async function take(sqs: SQSClient, queueUrl: string): Promise<readonly Rejected[]> {
  const { Messages = [] } = await sqs.send(
    new ReceiveMessageCommand({ QueueUrl: queueUrl, MaxNumberOfMessages: 10, MessageAttributeNames: ["All"] }),
  );
  for (const { ReceiptHandle } of Messages)
    await sqs.send(new DeleteMessageCommand({ QueueUrl: queueUrl, ReceiptHandle }));
  return Messages.map(({ Body = "", MessageAttributes = {} }) => {
    const text = (attribute: string): string => MessageAttributes[attribute]?.StringValue ?? "";
    return { body: Body, source: text("source"), reason: text("reason") };
  });
}

async function depthOf(sqs: SQSClient, queueUrl: string): Promise<Depth> {
  const { Attributes } = await sqs.send(new GetQueueAttributesCommand({ QueueUrl: queueUrl, AttributeNames: ["All"] }));
  // A count that is missing is no 0: as NaN it is equal to nothing.
  const count = (name: string): number => Number(Reflect.get(Attributes ?? {}, name) ?? Number.NaN);
  return {
    visible: count("ApproximateNumberOfMessages"),
    inFlight: count("ApproximateNumberOfMessagesNotVisible"),
    delayed: count("ApproximateNumberOfMessagesDelayed"),
  };
}

async function deadLettersOf(sqs: SQSClient, queueUrl: string): Promise<string> {
  const { Attributes } = await sqs.send(
    new GetQueueAttributesCommand({ QueueUrl: queueUrl, AttributeNames: ["RedrivePolicy"] }),
  );
  const { deadLetterTargetArn } = JSON.parse(Attributes?.RedrivePolicy ?? "{}") as { deadLetterTargetArn?: string };
  const { QueueUrl } = await sqs.send(new GetQueueUrlCommand({ QueueName: deadLetterTargetArn?.split(":").at(-1) }));
  if (QueueUrl === undefined) throw new Error(`queue ${queueUrl} has no dead-letter queue`);
  return QueueUrl;
}
