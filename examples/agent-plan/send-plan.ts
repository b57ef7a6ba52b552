/** The Lambda function that starts plans. It knows a queue's address and the form of a message, and nothing else. */
import { SendMessageCommand, SQSClient } from "@aws-sdk/client-sqs";
import { type PlannedRun, startOf } from "./plan.ts";

const sqs = new SQSClient();

/** Invoked again, it sends the same message, which is the same run. */
export async function handler(planned: PlannedRun): Promise<{ readonly sent: string }> {
  const QueueUrl = process.env.COMMANDS_QUEUE_URL;
  if (!QueueUrl)
    throw new Error("the environment variable COMMANDS_QUEUE_URL must hold the queue's address, got nothing");
  await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: JSON.stringify(startOf(planned)) }));
  return { sent: planned.command_id };
}
