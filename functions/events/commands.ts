/** From an SQS event to commands. */
import type { SQSEvent } from "aws-lambda";
import { type CommandWorld, handleCommand } from "../../shared/command.ts";
import { type BatchResponse, eachRecord } from "../../shared/each-record.ts";

/** Commands side by side; no start waits for another. */
const sideBySide = 10;

export const createCommands =
  (world: CommandWorld) =>
  (event: SQSEvent): Promise<BatchResponse> =>
    eachRecord(event.Records, {
      sideBySide,
      log: world.log,
      identify: (record) => record.messageId,
      handle: async (record) => {
        await handleCommand(world, { messageId: record.messageId, body: record.body });
        return true;
      },
    });
