/**
 * A whole deployment in one process and in virtual time: the very cores of the handlers over a table, a stream, queues
 * and a rule in memory. A schedule is a seed and a choice of faults, and replays exactly.
 */
import { memoryBlobs } from "../../shared/adapters/memory-blobs.ts";
import { memoryTable } from "../../shared/adapters/memory-table.ts";
import { handleCommand } from "../../shared/command.ts";
import { scanShardOf } from "../../shared/keys.ts";
import type { Limits } from "../../shared/limits.ts";
import { limitsWith } from "../../shared/limits.ts";
import type { StartRun } from "../../shared/model.ts";
import type { BlobAnswer, Blobs, Log, Queue, Table, TransactAnswer, World, WriteAnswer } from "../../shared/ports.ts";
import { readEntry, relayEntry } from "../../shared/relay.ts";
import { scanPass } from "../../shared/scan.ts";
import { startWrites } from "../../shared/start.ts";
import { type ToolContext, toolTable } from "../../shared/tool.ts";
import { handleDelivery } from "../../shared/worker.ts";
import type { Item, Write } from "../../shared/write.ts";
import { type Clockwork, clockwork } from "./clockwork.ts";
import type { Call, ChooseFault, Fault, ProcessKind } from "./faults.ts";
import { type Process, seededChance, startProcess } from "./process.ts";
import { type QueueMessage, type QueueModel, queueModel } from "./queue-model.ts";
import { runId } from "./scenarios.ts";
import { seeded } from "./seeded.ts";
import { type Outside, outside } from "./tools.ts";

/** What happens besides the faults at calls. */
export type Weather = {
  /** Whether each function's trigger works at that time. */
  readonly isOn: (kind: ProcessKind, nowMs: number) => boolean;
  /** Fate of a message that is sent: how many copies arrive, each after so long. */
  readonly arrivals: (nowMs: number) => readonly number[];
  /** Fate of a stream record: how often it is handled at the least, or lost. */
  readonly records: (nowMs: number) => readonly number[];
  /** How far an invocation's wall clock is off. */
  readonly clockOffsetMs: () => number;
  /** How long a call takes. */
  readonly latencyMs: () => number;
  /** How old an index read may be. */
  readonly indexLagMs: () => number;
  readonly purgeAtMs: number | undefined;
  /** Rules that fire beside each other. */
  readonly scanners: number;
};

export const calmWeather: Weather = {
  isOn: () => true,
  arrivals: () => [0],
  records: () => [50],
  clockOffsetMs: () => 0,
  latencyMs: () => 10,
  indexLagMs: () => 0,
  purgeAtMs: undefined,
  scanners: 1,
};

export type AppliedWrites = {
  readonly by: Process;
  readonly atMs: number;
  readonly writes: readonly { readonly write: Write; readonly old: Item | undefined; readonly new: Item }[];
};

/** Told of everything that a checker may want to judge. */
export type Witness = {
  applied?(applied: AppliedWrites): void;
  acknowledged?(message: QueueMessage): void;
  counted?(name: string, by: Process): void;
  fault?(fault: Fault, call: Call): void;
};

export type EngineOptions = {
  readonly seed: number;
  readonly choose: ChooseFault;
  readonly weather?: Weather;
  readonly limits?: Partial<Limits>;
  readonly witness?: Witness;
  /** Tools that the worker does not have. */
  readonly undeployed?: readonly string[];
  readonly unreadableForMs?: number;
  /** For so long after the start no object can be put or read. */
  readonly bucketDownForMs?: number;
  /** A known mistake, put in on purpose to see whether the checker finds it. */
  readonly sabotage?: Sabotage;
};

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
  readonly context?: (context: ToolContext) => ToolContext;
};

export type Engine = {
  readonly clockwork: Clockwork;
  readonly limits: Limits;
  readonly commands: QueueModel;
  readonly dispatches: QueueModel;
  readonly rejected: readonly { readonly body: string; readonly source: string; readonly reason: string }[];
  readonly outside: Outside;
  /** All items as they are now, not copied: to be read only. */
  items(): Iterable<Item>;
  /** Makes a run that is too large for one transaction: all of its writes at one instant, and its entry into the stream. */
  startAtOnce(command: StartRun): void;
  /** Invocations that ended by dying, and calls made. */
  readonly tally: { crashes: number; calls: number; claims: number; recordsLost: number };
  run(done: () => boolean, forMs: number): Promise<void>;
  startScanner(): void;
};

export const startMs = 1_800_000_000_000;
const silent: Log = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
const streamRetryMs = 1_000;

export function engine(options: EngineOptions): Engine {
  const { choose, witness = {}, weather = calmWeather, sabotage = {} } = options;
  // A shorter visibility than the default's half hour: the same ways, with less idle time between them.
  const limits = limitsWith({ queueVisibilityMs: 300_000, ...options.limits });
  const seed = seeded(options.seed);
  const chance = seededChance(seed);
  const clock = clockwork(startMs);
  const tally = { crashes: 0, calls: 0, claims: 0, recordsLost: 0 };
  const rejected: { body: string; source: string; reason: string }[] = [];
  /** As the table holds it, at hand without waiting. */
  const latest = new Map<string, Item>();
  const placeOf = (pk: string, sk: string): string => JSON.stringify([pk, sk]);
  const itemAt = (pk: string, sk: string): Item | undefined => latest.get(placeOf(pk, sk));
  const world = outside({
    nowMs: clock.nowMs,
    epochOf: (runId, nodeId) => Number(itemAt(`RUN#${runId}`, `NODE#${nodeId}`)?.epoch ?? 0),
    ...(sabotage.context === undefined ? {} : { context: sabotage.context }),
  });
  const namespace = "simulation";
  let processes = 0;

  let applying: AppliedWrites["writes"][number][] = [];
  const table = memoryTable({
    onApplied: (applied) => {
      applying.push(applied);
      latest.set(placeOf(applied.write.key.pk, applied.write.key.sk), applied.new);
    },
  });

  /** After each write of the table: the stream gets its records, the witness its view. */
  const settleApplied = (by: Process): void => {
    if (applying.length === 0) return;
    const writes = applying;
    applying = [];
    for (const { write, new: item } of writes) {
      if (write.name === "claim") tally.claims += 1;
      if (item.kind === "outbox") deliverRecord(item);
    }
    witness.applied?.({ by, atMs: clock.nowMs(), writes });
    if (options.unreadableForMs !== undefined) makeUnreadable(writes, options.unreadableForMs);
  };

  /** By another hand: neither the stream nor the witness hears of it. */
  const makeUnreadable = (writes: AppliedWrites["writes"], forMs: number): void => {
    for (const { write } of writes.filter(({ write: { name } }) => name === "create_node" || name === "start_run")) {
      const setVersion = (v: number): void => {
        void table.write({ op: "update", name: "by_another_hand", key: write.key, set: { v }, conditions: [] });
        applying = [];
      };
      setVersion(2);
      clock.at(clock.nowMs() + forMs, () => setVersion(1));
    }
  };

  const begin = (kind: ProcessKind, timeoutMs: number, onDeath: () => void): Process => {
    const process = startProcess({
      id: processes++,
      kind,
      clockwork: clock,
      chance,
      choose,
      nextCallIndex: () => tally.calls++,
      latencyMs: weather.latencyMs,
      clockOffsetMs: weather.clockOffsetMs(),
      onFault: (fault, call) => witness.fault?.(fault, call),
      onDeath: () => {
        tally.crashes += 1;
        onDeath();
      },
    });
    clock.at(clock.nowMs() + timeoutMs, () => process.die());
    return process;
  };

  const runShard = scanShardOf(runId);
  const tableOf = (process: Process): Table => {
    const { write: alter, writeAnswer = (answer) => answer, transactAnswer = (answer) => answer } = sabotage;
    const altered = (write: Write): Write =>
      alter === undefined ? write : alter(write, itemAt(write.key.pk, write.key.sk), process.kind);
    const fails = async (): Promise<never> => {
      throw new Error("the table did not answer");
    };
    const unknown = async () => ({ is: "unknown", why: "injected" }) as const;
    const busy = async () => ({ is: "busy", why: "injected" }) as const;
    const wrongWrite = { error: unknown, busy, lostReply: unknown };
    const applied = async <A>(make: () => Promise<A>): Promise<A> => {
      const made = make();
      settleApplied(process);
      return made;
    };
    return {
      get: (key) =>
        process.call("get", key.sk.split("#")[0] ?? "", () => table.get(key), { error: fails, lostReply: fails }),
      query: (pk, prefix) =>
        process.call("query", prefix, () => table.query(pk, prefix), { error: fails, lostReply: fails }),
      dueRuns: (shard, dueAtMs, limit) => {
        const read = () => table.dueRuns(shard, dueAtMs - weather.indexLagMs(), limit);
        // Of the empty shards one stands for all: a pass that dies at any of them dies before, or after, the run's own.
        if (shard !== 0 && shard !== runShard) return read();
        return process.call("dueRuns", "scan", read, { error: fails, lostReply: fails });
      },
      write: async (write) =>
        writeAnswer(
          await process.call<WriteAnswer>(
            "write",
            write.name,
            () => applied(() => table.write(altered(write))),
            wrongWrite,
          ),
        ),
      transact: async (writes) => {
        const apart = sabotage.outboxApart === true ? writes.filter((write) => write.name === "outbox") : [];
        const together = writes.filter((write) => !apart.includes(write));
        const answer = await process.call<TransactAnswer>(
          "transact",
          writes[0]?.name ?? "",
          () => applied(() => table.transact(together.map(altered))),
          wrongWrite,
        );
        if (answer.is === "applied") {
          for (const write of apart)
            await process.call("write", write.name, () => applied(() => table.write(write)), wrongWrite);
        }
        return transactAnswer(answer, writes);
      },
    };
  };

  const objects = memoryBlobs();
  const blobsOf = (process: Process): Blobs => {
    const unknown = async () => ({ is: "unknown", why: "injected" }) as const;
    const fails = async (): Promise<never> => {
      throw new Error("the bucket did not answer");
    };
    const isDown = (): boolean => clock.nowMs() < startMs + (options.bucketDownForMs ?? 0);
    const put = (key: string, text: string) => (isDown() ? unknown() : objects.put(key, text));
    const get = (key: string) => (isDown() ? fails() : objects.get(key));
    return {
      put: (key, text) =>
        process.call<BlobAnswer>("blob", "put", () => put(key, text), {
          error: unknown,
          busy: async () => ({ is: "busy", why: "injected" }),
          lostReply: unknown,
        }),
      get: (key) => process.call("blob", "get", () => get(key), { error: fails, lostReply: fails }),
    };
  };

  const queueOf = (process: Process): Queue => {
    const failsSend = async (): Promise<never> => {
      throw new Error("the queue did not answer");
    };
    return {
      send: (messages) => {
        if (messages.length === 0) return Promise.resolve([]);
        const send = async () => {
          for (const { dispatch, delayMs } of messages) {
            const shownMs = Math.min(Math.ceil(delayMs / 1_000), 900) * 1_000;
            for (const lateMs of weather.arrivals(clock.nowMs()))
              dispatches.put(JSON.stringify(dispatch), shownMs + lateMs);
          }
          return [];
        };
        return process.call("send", "dispatch", send, { error: async () => messages, lostReply: async () => messages });
      },
      reject: (rejection) =>
        process.call("reject", rejection.source, async () => void rejected.push(rejection), {
          error: failsSend,
          lostReply: failsSend,
        }),
      hide: (receiptHandle, forMs) =>
        process.call(
          "hide",
          "visibility",
          async () => {
            const message = dispatches.messages.find((one) => one.id === receiptHandle);
            if (message !== undefined) dispatches.hide(message, Math.ceil(forMs / 1_000) * 1_000);
          },
          { error: failsSend, lostReply: failsSend },
        ),
    };
  };

  const worldOf = (process: Process): World => ({
    table: tableOf(process),
    queue: queueOf(process),
    clock: process.clock,
    chance: process.chance,
    log: silent,
    count: (name) => witness.counted?.(name, process),
  });

  const never = new Promise<never>(() => undefined);

  const commands = queueModel(
    clock,
    "command",
    limits.queueVisibilityMs,
    () => weather.isOn("commands", clock.nowMs()),
    (message) => {
      const process = begin("commands", limits.plainFunctionTimeoutMs, () => undefined);
      const tools = toolTable(world.toolsFor(process), limits);
      void handleCommand(
        { ...worldOf(process), limits, blobs: blobsOf(process), tools },
        { messageId: message.id, body: message.body },
      ).then(
        () => finish(process, () => commands.remove(message)),
        () => finish(process, () => undefined),
      );
    },
  );

  const dispatches = queueModel(
    clock,
    "dispatch",
    limits.queueVisibilityMs,
    () => weather.isOn("worker", clock.nowMs()),
    (message) => {
      const startedAtMs = clock.nowMs();
      const process = begin("worker", limits.functionTimeoutMs, () => undefined);
      const base = worldOf(process);
      const worker = {
        ...base,
        limits,
        blobs: blobsOf(process),
        namespace,
        tools: toolTable(
          world.toolsFor(process).filter((tool) => options.undeployed?.includes(tool.name) !== true),
          limits,
        ),
        pulse: { table: base.table, queue: base.queue },
        endProcess: () => {
          process.die();
          return never;
        },
      };
      const remainingMs = () => startedAtMs + limits.functionTimeoutMs - clock.nowMs();
      const received = sabotage.claimsBatch === true ? [message, ...othersVisible(message)] : [message];
      const deliver = async (one: QueueMessage): Promise<void> => {
        if (sabotage.acknowledgesFirst === true) acknowledge(one);
        const verdict = await handleDelivery(
          worker,
          { messageId: one.id, receiptHandle: one.id, body: one.body },
          { remainingMs },
        );
        if (process.isAlive() && verdict === "acknowledge") acknowledge(one);
      };
      void Promise.all(received.map(deliver)).then(
        () => process.finish(),
        () => process.finish(),
      );
    },
  );

  const acknowledge = (message: QueueMessage): void => {
    if (message.deleted) return;
    witness.acknowledged?.(message);
    dispatches.remove(message);
  };

  const othersVisible = (message: QueueMessage): readonly QueueMessage[] => {
    const others = dispatches.living().filter((other) => other !== message && other.visibleAtMs <= clock.nowMs());
    for (const other of others) dispatches.hide(other, limits.queueVisibilityMs);
    return others;
  };

  /** A process that died on its last call returns nothing. What returned is over: its leftovers are frozen. */
  const finish = (process: Process, then: () => void): void => {
    if (!process.isAlive()) return;
    then();
    process.finish();
  };

  const deliverRecord = (image: Item): void => {
    const fate = weather.records(clock.nowMs());
    if (fate.length === 0) tally.recordsLost += 1;
    for (const lateMs of fate) clock.at(clock.nowMs() + lateMs, () => relayRecord(image, 10));
  };

  const relayRecord = (image: Item, triesLeft: number): void => {
    if (!weather.isOn("relay", clock.nowMs())) {
      clock.at(clock.nowMs() + 5_000, () => relayRecord(image, triesLeft));
      return;
    }
    if (triesLeft === 0) {
      tally.recordsLost += 1;
      return;
    }
    const again = (): void => clock.at(clock.nowMs() + streamRetryMs, () => relayRecord(image, triesLeft - 1));
    const process = begin("relay", limits.plainFunctionTimeoutMs, again);
    void relayEntry(worldOf(process), readEntry(image)).then(
      () => finish(process, () => undefined),
      () => finish(process, again),
    );
  };

  const startScanner = (): void => {
    const tick = (): void => {
      clock.at(clock.nowMs() + 60_000, tick);
      if (!weather.isOn("scanner", clock.nowMs())) return;
      const startedAtMs = clock.nowMs();
      const process = begin("scanner", limits.plainFunctionTimeoutMs, () => undefined);
      void scanPass(worldOf(process), limits, () => startedAtMs + limits.plainFunctionTimeoutMs - clock.nowMs()).then(
        () => finish(process, () => undefined),
        () => finish(process, () => undefined),
      );
    };
    for (let count = 0; count < weather.scanners; count++) clock.at(clock.nowMs() + 60_000, tick);
  };

  const startAtOnce = (command: StartRun): void => {
    const process = begin("commands", limits.plainFunctionTimeoutMs, () => undefined);
    const tools = toolTable(world.toolsFor(process), limits);
    const commandId = command.command_id ?? "at-once";
    const writes = startWrites({
      command,
      commandId,
      tools,
      limits,
      nowMs: process.clock.nowMs(),
      generation: process.chance.id(),
    });
    if (!("length" in writes)) throw new Error(`run ${command.run_id} cannot be made: ${JSON.stringify(writes)}`);
    // The table decides a write when it is called.
    for (const write of writes) void table.write(write);
    settleApplied(process);
    process.finish();
  };
  if (weather.purgeAtMs !== undefined) clock.at(weather.purgeAtMs, () => dispatches.purge());

  return {
    clockwork: clock,
    limits,
    commands,
    dispatches,
    rejected,
    outside: world,
    items: () => latest.values(),
    startAtOnce,
    tally,
    run: (done, forMs) => clock.run(done, startMs + forMs),
    startScanner,
  };
}
