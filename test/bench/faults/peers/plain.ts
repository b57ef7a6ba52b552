/** A plain handler of a queue. With SEND_KEYS it hands each call a key made of the message's id, as a careful author would. */
import type { SQSEvent } from "aws-lambda";
import { passGate } from "../pass-gate.ts";
import { doJob } from "./job.ts";

export const handler = async (event: SQSEvent): Promise<void> => {
  for (const { body, messageId } of event.Records)
    await doJob(JSON.parse(body), process.env.SEND_KEYS ? (step) => `${messageId}${step}` : undefined);
  await passGate("return", JSON.stringify(event.Records.map(({ body }) => body)));
};
