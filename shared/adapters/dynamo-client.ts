/** The two clients for the table: one for all work, one for heartbeats that must not wait behind anything. */
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { heartbeatTimes, plainTimes, type Where, wireOptions } from "./wire-times.ts";

export const dynamoClient = (where: Where = {}): DynamoDBDocumentClient =>
  DynamoDBDocumentClient.from(new DynamoDBClient({ ...wireOptions(plainTimes), ...where }));

export const dynamoHeartbeatClient = (where: Where = {}): DynamoDBDocumentClient =>
  DynamoDBDocumentClient.from(new DynamoDBClient({ ...wireOptions(heartbeatTimes), ...where }));
