/** The least that a function on a queue and a table can load: the very clients that the worker has, and nothing else. */
import { dynamoClient } from "../../../shared/adapters/dynamo-client.ts";
import { sqsClient } from "../../../shared/adapters/sqs-client.ts";

const clients = [dynamoClient(), sqsClient()];

export const handler = async (): Promise<number> => clients.length;
