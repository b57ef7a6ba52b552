/** A worker function that asks a gate before its handler returns: the gate is where a test kills it. */
import type { SQSEvent } from "aws-lambda";
import { handler as shipped } from "../../functions/worker.ts";

type Shipped = typeof shipped;

export const handler = async (event: SQSEvent, context: Parameters<Shipped>[1]): ReturnType<Shipped> => {
  const response = await shipped(event, context);
  const bodies = event.Records.map((record) => record.body);
  await fetch(`${process.env.GATE_URL}/return`, { method: "POST", body: JSON.stringify(bodies) });
  return response;
};
