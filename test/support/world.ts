/** A small world in memory for unit tests: a table that can be struck, a queue that remembers, a clock moved by hand. */
import { z } from "zod";
import { type MemoryBlobs, memoryBlobs } from "../../shared/adapters/memory-blobs.ts";
import { type MemoryTable, memoryTable } from "../../shared/adapters/memory-table.ts";
import { nodeKey, runKey } from "../../shared/keys.ts";
import { type Limits, limitsWith } from "../../shared/limits.ts";
import { type NodeItem, nodeItemSchema, type RunItem, readItem, runItemSchema } from "../../shared/model.ts";
import type { Busy, Clock, Outgoing, Queue, Rejection, Table, Unknown, World } from "../../shared/ports.ts";
import type { AnyTool, ToolContext } from "../../shared/tool.ts";
import type { Item, Key, Write } from "../../shared/write.ts";

export const startMs = 1_800_000_000_000;

export type ManualClock = Clock & {
  /** How many sleep now. */
  sleepers(): number;
  /** Moves on at once and wakes nobody, as for a process that stood still. */
  stall(ms: number): void;
  /** Moves on, and wakes whoever slept until then, one after another. */
  advance(ms: number): Promise<void>;
  /** Moves on from sleeper to sleeper until the promise has ended. @throws Error when nobody sleeps and it still has not. */
  during<T>(promise: Promise<T>): Promise<T>;
};

const idle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

export function manualClock(): ManualClock {
  let passedMs = 0;
  const sleepers = new Set<{ readonly atMs: number; readonly wake: () => void }>();
  const earliest = () => [...sleepers].sort((left, right) => left.atMs - right.atMs)[0];
  return {
    nowMs: () => startMs + passedMs,
    monotonicMs: () => passedMs,
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        const wake = (): void => {
          sleepers.delete(sleeper);
          signal?.removeEventListener("abort", wake);
          resolve();
        };
        const sleeper = { atMs: passedMs + ms, wake };
        if (signal?.aborted === true) return resolve();
        signal?.addEventListener("abort", wake, { once: true });
        sleepers.add(sleeper);
      }),
    sleepers: () => sleepers.size,
    stall: (ms) => {
      passedMs += ms;
    },
    advance: async (ms) => {
      const untilMs = passedMs + ms;
      await idle();
      for (let next = earliest(); next !== undefined && next.atMs <= untilMs; next = earliest()) {
        passedMs = Math.max(passedMs, next.atMs);
        next.wake();
        await idle();
      }
      passedMs = Math.max(passedMs, untilMs);
    },
    during: async (promise) => {
      let hasEnded = false;
      const end = (): void => {
        hasEnded = true;
      };
      promise.then(end, end);
      for (await idle(); !hasEnded; await idle()) {
        const next = earliest();
        if (next === undefined) throw new Error("nobody sleeps, and the promise has not ended");
        passedMs = Math.max(passedMs, next.atMs);
        next.wake();
      }
      return promise;
    },
  };
}

/**
 * What happens to a call. `lost`: it is carried out, and its answer is lost. `busy`: it is not carried out. `throws`: it is
 * not carried out, and the table throws. A function runs before the call, which is then carried out: whatever came between.
 */
export type Strike = "lost" | "busy" | "throws" | (() => unknown);

export type StruckTable = Table & {
  /** The next calls of that name are struck, in order: a write's or a transaction's first write's name, or a read key's `sk`. */
  strike(name: string, ...strikes: readonly Strike[]): void;
  /** Names of the writes that were sent; those of a transaction joined by `+`. */
  readonly sent: string[];
  /** The writes themselves. */
  readonly writes: (readonly Write[])[];
};

export function struckTable(table: Table): StruckTable {
  const strikes = new Map<string, Strike[]>();
  const sent: string[] = [];
  const writes: (readonly Write[])[] = [];
  const struck = async <T>(name: string, call: () => Promise<T>): Promise<T | Busy | Unknown> => {
    const strike = strikes.get(name)?.shift();
    if (strike === "busy") return { is: "busy", why: "told so" };
    if (strike === "throws") throw new Error(`table cannot do ${name} now`);
    if (typeof strike === "function") await strike();
    const answer = await call();
    return strike === "lost" ? { is: "unknown", why: "answer lost" } : answer;
  };
  const read = async <T>(name: string, call: () => Promise<T>): Promise<T> => {
    const strike = strikes.get(name)?.shift();
    if (strike === "throws") throw new Error(`table cannot read ${name} now`);
    if (typeof strike === "function") await strike();
    return call();
  };
  return {
    get: (key) => read(key.sk, () => table.get(key)),
    query: (pk, prefix) => read(`query ${pk}`, () => table.query(pk, prefix)),
    dueRuns: (shard, dueAtMs, limit) => read("dueRuns", () => table.dueRuns(shard, dueAtMs, limit)),
    write: async (write) => {
      sent.push(write.name);
      writes.push([write]);
      return struck(write.name, () => table.write(write));
    },
    transact: async (all) => {
      sent.push(all.map((write) => write.name).join("+"));
      writes.push(all);
      return struck(all[0]?.name ?? "", () => table.transact(all));
    },
    strike: (name, ...more) => {
      strikes.set(name, [...(strikes.get(name) ?? []), ...more]);
    },
    sent,
    writes,
  };
}

export type FakeQueue = Queue & {
  readonly sent: Outgoing[];
  readonly rejected: Rejection[];
  readonly hidden: { readonly receiptHandle: string; readonly forMs: number }[];
  /** Which messages are not accepted. */
  refuses: (message: Outgoing) => boolean;
  /** Whether `reject` and `hide` throw. */
  isDown: boolean;
};

export function fakeQueue(): FakeQueue {
  const queue: FakeQueue = {
    sent: [],
    rejected: [],
    hidden: [],
    refuses: () => false,
    isDown: false,
    send: async (messages) => {
      const unsent = messages.filter((message) => queue.refuses(message));
      queue.sent.push(...messages.filter((message) => !queue.refuses(message)));
      return unsent;
    },
    reject: async (rejection) => {
      if (queue.isDown) throw new Error("queue is down");
      queue.rejected.push(rejection);
    },
    hide: async (receiptHandle, forMs) => {
      if (queue.isDown) throw new Error("queue is down");
      queue.hidden.push({ receiptHandle, forMs });
    },
  };
  return queue;
}

export type LogLine = { readonly level: string; readonly message: string; readonly fields: unknown };

export type TestWorld = World & {
  readonly table: StruckTable;
  readonly memory: MemoryTable;
  readonly blobs: MemoryBlobs;
  readonly queue: FakeQueue;
  readonly clock: ManualClock;
  readonly lines: LogLine[];
  readonly counts: Map<string, number>;
  /** As `chance.fraction` answers. */
  fraction: number;
  readonly node: (nodeId: string, runId?: string) => Promise<NodeItem>;
  readonly run: (runId?: string) => Promise<RunItem>;
  /** Kinds and messages of all outbox entries. */
  readonly entries: () => readonly Item[];
};

export function testWorld(...items: readonly (Item & Key)[]): TestWorld {
  const memory = memoryTable({ items });
  const counts = new Map<string, number>();
  const lines: LogLine[] = [];
  const logAt = (level: string) => (message: string, fields?: unknown) => void lines.push({ level, message, fields });
  let ids = 0;
  const world: TestWorld = {
    table: struckTable(memory),
    memory,
    blobs: memoryBlobs(),
    queue: fakeQueue(),
    clock: manualClock(),
    chance: {
      fraction: () => world.fraction,
      id: () => {
        ids += 1;
        return `fresh-${ids}`;
      },
    },
    log: { debug: logAt("debug"), info: logAt("info"), warn: logAt("warn"), error: logAt("error") },
    count: (name, by = 1) => void counts.set(name, (counts.get(name) ?? 0) + by),
    lines,
    counts,
    fraction: 0.5,
    node: async (nodeId, runId = "r") => readItem(nodeItemSchema, await memory.get(nodeKey(runId, nodeId))),
    run: async (runId = "r") => readItem(runItemSchema, await memory.get(runKey(runId))),
    entries: () => [...memory.items()].filter((item) => item.kind === "outbox"),
  };
  return world;
}

/** Short enough to think in: a lease of 30 s, a beat of 10 s, a skew of 2 s. */
export const testLimits = (overrides: Partial<Limits> = {}): Limits => limitsWith(overrides);

const stored = (item: Readonly<Record<string, Item[string] | undefined>> & Key): Item & Key => ({
  ...Object.fromEntries(Object.entries(item).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]))),
  pk: item.pk,
  sk: item.sk,
});

/** A READY root of run `r`, never claimed. */
export const nodeWith = (part: Partial<NodeItem> = {}): NodeItem => {
  const runId = part.run_id ?? "r";
  const nodeId = part.node_id ?? "a";
  return {
    ...nodeKey(runId, nodeId),
    kind: "node",
    v: 1,
    run_id: runId,
    node_id: nodeId,
    generation: "g",
    ordinal: 0,
    tool: "work",
    status: "READY",
    dispatch_id: "d-0",
    epoch: 0,
    attempts_used: 0,
    max_attempts: 5,
    certain_through_epoch: 0,
    deadline_at_ms: startMs + 3_600_000,
    ready_at_ms: startMs,
    not_before_ms: 0,
    input: "{}",
    expires_at: startMs / 1_000 + 90_000,
    ...part,
  };
};

/** Claimed once by message `m-1`, its lease just begun. */
export const runningWith = (part: Partial<NodeItem> = {}): NodeItem =>
  nodeWith({
    status: "RUNNING",
    epoch: 1,
    attempts_used: 1,
    claim_id: "c-1",
    message_id: "m-1",
    lease_expires_at_ms: startMs + 30_000,
    owner_dead_at_ms: startMs + 302_000,
    open_since_ms: startMs,
    ...part,
  });

/** A PENDING node `b` that waits for ordinal 0. */
export const pendingWith = (part: Partial<NodeItem> = {}): NodeItem => {
  const { ready_at_ms: _r, not_before_ms: _n, ...rest } = nodeWith({ node_id: "b", ordinal: 1 });
  return { ...rest, status: "PENDING", waiting_on: new Set([0]), ...part, ...nodeKey("r", part.node_id ?? "b") };
};

/** Run `r`, living, that waits for ordinal 0. */
export const runWith = (part: Partial<RunItem> = {}): RunItem => {
  const runId = part.run_id ?? "r";
  return {
    ...runKey(runId),
    kind: "run",
    v: 1,
    run_id: runId,
    generation: "g",
    status: "RUNNING",
    content_hash: "h",
    node_count: 1,
    created_at_ms: startMs,
    deadline_at_ms: startMs + 3_600_000,
    waiting_on: new Set([0]),
    scan_shard: 0,
    scan_at_ms: startMs,
    scanned_at_ms: startMs - 60_000,
    expires_at: startMs / 1_000 + 90_000,
    ...part,
  };
};

export const itemOf = (item: NodeItem | RunItem): Item & Key => stored(item);

/** A tool `work` that takes and gives anything; `execute` gives `{}` where none is named. */
export const toolWith = (part: Partial<AnyTool> = {}): AnyTool => ({
  name: "work",
  input: z.unknown(),
  output: z.unknown(),
  effect: "idempotent",
  execute: async (_input: unknown, _context: ToolContext): Promise<unknown> => ({}),
  ...part,
});

export const toolsOf = (...tools: readonly AnyTool[]): ReadonlyMap<string, AnyTool> =>
  new Map(tools.map((tool) => [tool.name, tool]));
