/** The same job with Powertools as its documentation puts batch and idempotency together: the record's work is made idempotent. */
import { BatchProcessor, EventType, processPartialResponse } from "@aws-lambda-powertools/batch";
import { IdempotencyConfig, makeIdempotent } from "@aws-lambda-powertools/idempotency";
import { DynamoDBPersistenceLayer } from "@aws-lambda-powertools/idempotency/dynamodb";
import type { Context, SQSBatchResponse, SQSEvent, SQSRecord } from "aws-lambda";
import { passGate } from "../pass-gate.ts";
import { doJob } from "./job.ts";

const processor = new BatchProcessor(EventType.SQS);
const config = new IdempotencyConfig({ eventKeyJmesPath: "messageId" });
const doRecord = makeIdempotent((record: SQSRecord): Promise<void> => doJob(JSON.parse(record.body)), {
  persistenceStore: new DynamoDBPersistenceLayer({ tableName: process.env.IDEMPOTENCY_TABLE ?? "" }),
  config,
});

export const handler = async (event: SQSEvent, context: Context): Promise<SQSBatchResponse> => {
  // So that a record in progress is given up when this invocation is surely over.
  config.registerLambdaContext(context);
  const response = await processPartialResponse(event, doRecord, processor, { context });
  await passGate("return", JSON.stringify(event.Records.map(({ body }) => body)));
  return response;
};
