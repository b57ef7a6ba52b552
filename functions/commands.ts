/** Lambda on the commands queue: carries out each command or refuses it with a reason. */
import type { SQSEvent } from "aws-lambda";
import { tools } from "leasehold-tools";
import type { BatchResponse } from "../shared/each-record.ts";
import { toolTable } from "../shared/tool.ts";
import { createCommands } from "./events/commands.ts";
import { surroundings, values } from "./surroundings.ts";

const { world, limits, publish } = surroundings("commands");
const handle = createCommands({ ...world, limits, blobs: values(), tools: toolTable(tools, limits) });

export const handler = (event: SQSEvent): Promise<BatchResponse> => handle(event).finally(publish);
