import type { QueueMessage } from "./queue-model.ts";

/** The node that a dispatch names, for whoever tells what happened to it. */
export function nodeOf({ body }: QueueMessage): string | undefined {
  try {
    const dispatch: unknown = JSON.parse(body);
    const nodeId: unknown = typeof dispatch === "object" && dispatch !== null && Reflect.get(dispatch, "node_id");
    return typeof nodeId === "string" ? nodeId : undefined;
  } catch {
    return undefined;
  }
}
