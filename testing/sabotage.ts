/** Known mistakes, put in on purpose to see whether a checker finds them. No part of what users import. */
import type { TransactAnswer, WriteAnswer } from "../shared/ports.ts";
import type { Item, Write } from "../shared/write.ts";
import type { ProcessKind } from "./faults.ts";

export type Sabotage = {
  readonly write?: (write: Write, current: Item | undefined, by: ProcessKind) => Write;
  readonly writeAnswer?: (answer: WriteAnswer) => WriteAnswer;
  readonly transactAnswer?: (answer: TransactAnswer, writes: readonly Write[]) => TransactAnswer;
  /** Outbox entries are written after the transaction that needs them. */
  readonly outboxApart?: boolean;
  /** A message is taken from the queue when it is received. */
  readonly acknowledgesFirst?: boolean;
  /** An invocation takes all messages that are visible and claims their nodes at once. */
  readonly claimsBatch?: boolean;
};
