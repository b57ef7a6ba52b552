/** What a cancelled transaction answers, from its list of reasons: one for each action, in their order (API_TransactWriteItems.html). */
import type { CancellationReason } from "@aws-sdk/client-dynamodb";
import type { Busy, Refused, TransactAnswer } from "../ports.ts";
import type { Write } from "../write.ts";
import { refusedItem } from "./stored-item.ts";

const busyCodes: ReadonlySet<string> = new Set([
  "TransactionConflict",
  "ThrottlingError",
  "ProvisionedThroughputExceeded",
]);

/** An action without a fault has the text "None". */
const codeOf = (reason: CancellationReason): string => reason.Code ?? "None";

/**
 * One busy action makes the whole answer busy: what the others found may no longer be so at the next try.
 * @throws Error for reasons that no repeat would change, naming the write.
 */
export function cancellationAnswer(writes: readonly Write[], reasons: readonly CancellationReason[]): TransactAnswer {
  if (reasons.length !== writes.length)
    throw new Error(`a transaction of ${writes.length} writes was cancelled with ${reasons.length} reasons`);
  const busy = reasons.find((reason) => busyCodes.has(codeOf(reason)));
  if (busy !== undefined) return { is: "busy", why: codeOf(busy) } satisfies Busy;
  const refusals = writes.map((write, place): Refused | null => {
    const reason = reasons[place] ?? {};
    const code = codeOf(reason);
    if (code === "None") return null;
    if (code === "ConditionalCheckFailed") return { is: "refused", old: refusedItem(reason.Item) };
    throw new Error(`write ${write.name} cannot be made: ${code}: ${reason.Message ?? ""}`);
  });
  if (refusals.every((refusal) => refusal === null)) throw new Error("a transaction was cancelled without a reason");
  return { is: "refused", refusals };
}
