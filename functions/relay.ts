/** Lambda on the table's stream: carries out each outbox entry. */
import type { DynamoDBStreamEvent } from "aws-lambda";
import type { BatchResponse } from "../shared/each-record.ts";
import { relayHandler } from "./events/relay.ts";
import { surroundings } from "./surroundings.ts";

const { world, publish } = surroundings("relay");
const handle = relayHandler(world);

export const handler = (event: DynamoDBStreamEvent): Promise<BatchResponse> => handle(event).finally(publish);
