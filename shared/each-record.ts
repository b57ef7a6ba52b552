/** Guards each record of a batch, so that a bad one fails alone. Only what is proven done is left out of the answer. */
import { describeError, stackOf } from "./errors.ts";
import type { Log } from "./ports.ts";

export type BatchResponse = { batchItemFailures: { itemIdentifier: string }[] };

export type EachRecord<Rec> = {
  /** How many records are handled at a time. */
  readonly sideBySide: number;
  readonly log: Log;
  /** The id under which the source knows the record; an unknown one would fail the whole batch (services-sqs-errorhandling.html). */
  readonly identify: (record: Rec) => string;
  /** Resolves to true when the record is done; whatever it throws, be it undefined, fails its own record only. */
  readonly handle: (record: Rec) => Promise<boolean>;
};

/** Resolves when no record is under way any more: a frozen environment would let a straggler act in a later invocation. */
export async function eachRecord<Rec>(records: readonly Rec[], each: EachRecord<Rec>): Promise<BatchResponse> {
  const { sideBySide, log, identify, handle } = each;
  const waiting = [...records];
  const failed: string[] = [];
  const lane = async (): Promise<void> => {
    for (let record = waiting.shift(); record !== undefined; record = waiting.shift()) {
      const itemIdentifier = identify(record);
      try {
        if (!(await handle(record))) failed.push(itemIdentifier);
      } catch (error) {
        failed.push(itemIdentifier);
        log.error("record failed and will come again", {
          itemIdentifier,
          error: describeError(error),
          stack: stackOf(error),
        });
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(sideBySide, records.length) }, lane));
  return { batchItemFailures: failed.map((itemIdentifier) => ({ itemIdentifier })) };
}
