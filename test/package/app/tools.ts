import { SendMessageCommand, SQSClient } from "@aws-sdk/client-sqs";
import { defineTool } from "leasehold";
import * as z from "zod";

export const sendParcel = defineTool({
  name: "send-parcel",
  input: z.strictObject({ to: z.string() }),
  output: z.object({ parcel: z.string() }),
  effect: "idempotent",
  async execute({ to }, { operationId, signal }) {
    const parcel = { to, parcel: operationId.slice(0, 8) };
    const command = { QueueUrl: process.env.PARCELS_URL, MessageBody: JSON.stringify(parcel) };
    await new SQSClient().send(new SendMessageCommand(command), { abortSignal: signal });
    return { parcel: parcel.parcel };
  },
});

export const announce = defineTool({
  name: "announce",
  input: z.strictObject({ text: z.string() }),
  output: z.object({ said: z.string() }),
  effect: "read_only",
  execute: async ({ text }) => ({ said: `sent: ${text}` }),
});

export const tools = [sendParcel, announce];
