/** What the core needs from the world, in the core's words. Adapters implement these; the simulation does too. */
import type { Item, Key, Write } from "./write.ts";

/** The state said no; `old` is the item as it was found, undefined where there was none. */
export type Refused = { readonly is: "refused"; readonly old: Item | undefined };
/** Not decided and surely not applied: a conflict or a throttle. To be sent again after a pause. */
export type Busy = { readonly is: "busy"; readonly why: string };
/** Perhaps applied: the answer was lost. To be read back or sent again under its conditions (I10). */
export type Unknown = { readonly is: "unknown"; readonly why: string };

/** `item` is the whole item after the write. */
export type WriteAnswer = { readonly is: "applied"; readonly item: Item } | Refused | Busy | Unknown;

/** `refusals` has one place per write, in their order: the refusal, or null where that write had no objection. */
export type TransactAnswer =
  | { readonly is: "applied" }
  | { readonly is: "refused"; readonly refusals: readonly (Refused | null)[] }
  | Busy
  | Unknown;

export type Table = {
  /** Strongly consistent. @throws when the table cannot be read now. */
  get(key: Key): Promise<Item | undefined>;
  /** All items of one partition whose sort key begins with the prefix, strongly consistent, every page. @throws as `get`. */
  query(pk: string, skPrefix: string): Promise<readonly Item[]>;
  /** Partition keys of the living runs of a shard whose `scan_at_ms` is at most `dueAtMs`, earliest first; may be stale (an index read). */
  dueRuns(shard: number, dueAtMs: number, limit: number): Promise<readonly string[]>;
  /** Never throws for what the service answers; every refusal brings the old item. */
  write(write: Write): Promise<WriteAnswer>;
  /** At most 100 writes on as many items, all or none. */
  transact(writes: readonly Write[]): Promise<TransactAnswer>;
};

/** `there`: an object of that key exists, and since keys tell contents apart, it is this one. */
export type BlobAnswer = { readonly is: "stored" } | { readonly is: "there" } | Busy | Unknown;

/** Values that are too large for the table. An object is written once and never changed. */
export type Blobs = {
  /** Never throws for what the service answers: a put may be sent again until it is known to have been done. */
  put(key: string, text: string): Promise<BlobAnswer>;
  /** Undefined where there is none. @throws when it cannot be read now. */
  get(key: string): Promise<string | undefined>;
};

/** The one message there is: a hint to look at the state, never the state. */
export type Dispatch = { readonly run_id: string; readonly node_id: string; readonly dispatch_id: string };
/** `pool`: whose workers are to be woken; undefined for the main worker. It names the queue and is no part of the message. */
export type Outgoing = {
  readonly dispatch: Dispatch;
  readonly delayMs: number;
  readonly pool?: string | undefined;
};

/** Something that could not be accepted, kept for a person to read. `body` is what came, unchanged. */
export type Rejection = { readonly body: string; readonly source: string; readonly reason: string };

export type Queue = {
  /** Sends all, ten at a time. Resolves with those that were not accepted; never throws for what the service answers. */
  send(messages: readonly Outgoing[]): Promise<readonly Outgoing[]>;
  /** Keeps what was refused in the rejected queue. @throws when it could not be kept: the source must then not be acknowledged. */
  reject(rejection: Rejection): Promise<void>;
  /** Best effort: hides the message for so long from now. @throws when the queue said no. */
  hide(receiptHandle: string, forMs: number): Promise<void>;
};

export type Clock = {
  /** Wall clock, for what is stored and compared between machines. */
  nowMs(): number;
  /** Never goes back and stands for this process only. */
  monotonicMs(): number;
  /** Resolves after so long, or early when the signal aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
};

export type Chance = {
  /** From 0 inclusive to 1 exclusive. */
  fraction(): number;
  /** A fresh, unguessable, short ASCII id. */
  id(): string;
};

export type Fields = { readonly [name: string]: unknown };
export type Log = {
  debug(message: string, fields?: Fields): void;
  info(message: string, fields?: Fields): void;
  warn(message: string, fields?: Fields): void;
  error(message: string, fields?: Fields): void;
};
/** Counts an event; names are PascalCase and never carry an id, since each value of a dimension is a metric of its own. */
export type Count = (name: string, by?: number) => void;

/** What every core function is given. */
export type World = {
  readonly table: Table;
  readonly queue: Queue;
  readonly clock: Clock;
  readonly chance: Chance;
  readonly log: Log;
  readonly count: Count;
};
