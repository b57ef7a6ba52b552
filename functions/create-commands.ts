/** Lambda on the commands queue: carries out each command or refuses it with a reason. */
import type { BatchResponse } from "../shared/each-record.ts";
import { type AnyTool, toolTable } from "../shared/tool.ts";
import { type CommandsEvent, commandsHandler } from "./events/commands.ts";
import { boundsOfAllPools } from "./pools.ts";
import { surroundings } from "./surroundings.ts";
import { values } from "./values.ts";

/**
 * @param tools all that nodes may name, those of the pools too. Which modules hold them only the stack knows, so it writes the
 * entry that calls this.
 * @returns the handler of the function; to be called once, when the function starts.
 */
export function createCommands(tools: readonly AnyTool[]): (event: CommandsEvent) => Promise<BatchResponse> {
  const { world, limits, publish } = surroundings("commands");
  const handle = commandsHandler({
    ...world,
    limits,
    blobs: values(),
    tools: toolTable(tools, boundsOfAllPools(limits)),
  });
  return (event) => handle(event).finally(publish);
}
