/** From an SQS event to commands. */
import { type CommandWorld, handleCommand } from "../../shared/command.ts";
import { type BatchResponse, eachRecord } from "../../shared/each-record.ts";

/** What is read of an SQS event. */
export type CommandsEvent = { readonly Records: readonly { readonly messageId: string; readonly body: string }[] };

/** Commands side by side; no start waits for another. */
const sideBySide = 10;

export const commandsHandler =
  (world: CommandWorld) =>
  (event: CommandsEvent): Promise<BatchResponse> =>
    eachRecord(event.Records, {
      sideBySide,
      log: world.log,
      identify: (record) => record.messageId,
      handle: async (record) => {
        await handleCommand(world, { messageId: record.messageId, body: record.body });
        return true;
      },
    });
