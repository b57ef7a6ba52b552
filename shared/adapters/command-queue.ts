/** The sender of commands. */
import { SendMessageCommand, SQSClient } from "@aws-sdk/client-sqs";
import { type Where, wireOptions } from "./wire-times.ts";

/** Sends one command's body, which must hold ASCII only. Resolves once SQS has it: from then on the command is durable. */
export type SendCommand = (body: string, signal?: AbortSignal) => Promise<void>;

/** A start may be 1 MiB and leave over a slow line; a copy that a retry makes is harmless, as each command names itself. */
const sendTimes = { connectMs: 3_000, requestMs: 30_000, attempts: 3 };

export const commandQueueClient = (where: Where = {}): SQSClient =>
  // A queue's URL carries the host that its maker saw, which need not be one that the sender can reach.
  new SQSClient({ ...wireOptions(sendTimes), useQueueUrlAsEndpoint: false, ...where });

export type CommandQueueOptions = {
  /** From `commandQueueClient`. */
  readonly client: SQSClient;
  readonly queueUrl: string;
};

export function commandQueue({ client, queueUrl }: CommandQueueOptions): SendCommand {
  return async (body, signal) => {
    const command = new SendMessageCommand({ QueueUrl: queueUrl, MessageBody: body });
    await client.send(command, signal === undefined ? {} : { abortSignal: signal });
  };
}
