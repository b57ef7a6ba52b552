/**
 * A whole deployment in one process and in virtual time: the very cores of the handlers over a table, a stream, queues
 * and a rule in memory. A schedule is a seed and a choice of faults, and replays exactly. Tools are the caller's.
 */
import { memoryBlobs } from "../shared/adapters/memory-blobs.ts";
import { memoryTable } from "../shared/adapters/memory-table.ts";
import type { Outputs } from "../shared/beside.ts";
import { handleCommand } from "../shared/command.ts";
import type { Limits } from "../shared/limits.ts";
import { limitsWith } from "../shared/limits.ts";
import type { StartRun } from "../shared/model.ts";
import { anyPool } from "../shared/pools.ts";
import type { Log, Rejection, World } from "../shared/ports.ts";
import { readEntry, relayEntry } from "../shared/relay.ts";
import { scanPass } from "../shared/scan.ts";
import { startWrites } from "../shared/start.ts";
import { toolTable } from "../shared/tool.ts";
import { handleDelivery } from "../shared/worker.ts";
import type { Item, Write } from "../shared/write.ts";
import { type Clockwork, clockwork } from "./clockwork.ts";
import { nodeOf } from "./dispatched-node.ts";
import type { EngineOptions } from "./engine-options.ts";
import type { ProcessKind } from "./faults.ts";
import { blobsOf, queueOf, type Surroundings, tableOf } from "./ports.ts";
import { type Process, seededChance, startProcess } from "./process.ts";
import { type QueueMessage, type QueueModel, queueModel } from "./queue-model.ts";
import { seeded } from "./seeded.ts";
import { streamModel } from "./stream-model.ts";
import { calmWeather } from "./weather.ts";
import type { AppliedWrites } from "./witness.ts";

export type Engine = {
  readonly clockwork: Clockwork;
  readonly limits: Limits;
  readonly commands: QueueModel;
  readonly dispatches: QueueModel;
  readonly rejected: readonly Rejection[];
  /** All items as they are now, not copied: to be read only. */
  items(): Iterable<Item>;
  itemAt(pk: string, sk: string): Item | undefined;
  /** Where outputs and errors are read from outside; no call of a function. */
  readonly stored: Outputs;
  /** A write of someone else's: neither the stream nor the witness hears of it. */
  byAnotherHand(write: Write): void;
  /** Makes a run that is too large for one transaction: all of its writes at one instant, and its entry into the stream. */
  startAtOnce(command: StartRun): void;
  /** Invocations that ended by dying, and calls made. */
  readonly tally: { crashes: number; calls: number; claims: number; recordsLost: number };
  /** Invocations that have neither returned nor died: one that stands still may yet act. */
  atWork(): number;
  run(done: () => boolean, forMs: number): Promise<void>;
  startScanner(): void;
};

export const startMs = 1_800_000_000_000;
const silent: Log = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

export function engine(options: EngineOptions): Engine {
  const { choose, witness = {}, weather = calmWeather, sabotage = {} } = options;
  // A shorter visibility than the default's half hour: the same ways, with less idle time between them.
  const limits = limitsWith({ queueVisibilityMs: 300_000, ...options.limits });
  const seed = seeded(options.seed);
  const chance = seededChance(seed);
  const clock = clockwork(startMs, options.quiet);
  const tally = { crashes: 0, calls: 0, claims: 0, recordsLost: 0 };
  const rejected: Rejection[] = [];
  /** As the table holds it, at hand without waiting. */
  const latest = new Map<string, Item>();
  const placeOf = (pk: string, sk: string): string => JSON.stringify([pk, sk]);
  const itemAt = (pk: string, sk: string): Item | undefined => latest.get(placeOf(pk, sk));
  const namespace = "simulation";
  let processes = 0;
  const begun = new Set<Process>();

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
      if (item.kind === "outbox") stream.deliver(item);
    }
    witness.applied?.({ by, atMs: clock.nowMs(), writes });
  };

  const begin = (
    kind: ProcessKind,
    timeoutMs: number,
    more: { onDeath?: () => void; nodeId?: string | undefined } = {},
  ): Process => {
    const process = startProcess({
      id: processes++,
      kind,
      nodeId: more.nodeId,
      clockwork: clock,
      chance,
      choose,
      nextCallIndex: () => tally.calls++,
      latencyMs: weather.latencyMs,
      clockOffsetMs: weather.clockOffsetMs(),
      onFault: (fault, call) => witness.fault?.(fault, call),
      onDeath: () => {
        tally.crashes += 1;
        more.onDeath?.();
      },
    });
    clock.at(clock.nowMs() + timeoutMs, () => process.die());
    begun.add(process);
    return process;
  };

  const objects = memoryBlobs();
  const around: Surroundings = {
    table,
    itemAt,
    settleApplied,
    objects,
    isBucketDown: () => clock.nowMs() < startMs + (options.bucketDownForMs ?? 0),
    dispatches: () => dispatches,
    onSent: (message, by) => witness.sent?.(message, by),
    keepRejected: (rejection) => void rejected.push(rejection),
    weather,
    nowMs: clock.nowMs,
    runId: options.runId,
    sabotage,
  };

  const worldOf = (process: Process): World => ({
    table: tableOf(process, around),
    queue: queueOf(process, around),
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
      const process = begin("commands", limits.plainFunctionTimeoutMs);
      const tools = toolTable(options.toolsFor(process), anyPool(limits));
      const world = { ...worldOf(process), limits, blobs: blobsOf(process, around), tools };
      void handleCommand(world, { messageId: message.id, body: message.body }).then(
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
      const process = begin("worker", limits.functionTimeoutMs, { nodeId: nodeOf(message) });
      const base = worldOf(process);
      const worker = {
        ...base,
        limits,
        blobs: blobsOf(process, around),
        namespace,
        tools: toolTable(options.toolsFor(process), anyPool(limits)),
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
        const delivery = { messageId: one.id, receiptHandle: one.id, body: one.body };
        const verdict = await handleDelivery(worker, delivery, { remainingMs });
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

  const stream = streamModel(
    clock,
    weather,
    (image, again) => {
      const process = begin("relay", limits.plainFunctionTimeoutMs, { onDeath: again });
      void relayEntry(worldOf(process), readEntry(image)).then(
        () => finish(process, () => undefined),
        () => finish(process, again),
      );
    },
    () => {
      tally.recordsLost += 1;
    },
  );

  const scan = (): void => {
    if (!weather.isOn("scanner", clock.nowMs())) return;
    const startedAtMs = clock.nowMs();
    const process = begin("scanner", limits.plainFunctionTimeoutMs);
    const over = (): void => finish(process, () => undefined);
    const remainingMs = () => startedAtMs + limits.plainFunctionTimeoutMs - clock.nowMs();
    void scanPass(worldOf(process), limits, remainingMs).then(over, over);
  };
  const startScanner = (): void => {
    const tick = (): void => {
      clock.at(clock.nowMs() + 60_000, tick);
      scan();
    };
    for (let count = 0; count < weather.scanners; count++) clock.at(clock.nowMs() + 60_000, tick);
  };

  const startAtOnce = (command: StartRun): void => {
    const process = begin("commands", limits.plainFunctionTimeoutMs);
    const tools = toolTable(options.toolsFor(process), anyPool(limits));
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
    items: () => latest.values(),
    itemAt,
    stored: { table, blobs: objects },
    byAnotherHand: (write) => {
      void table.write(write);
      applying = [];
    },
    startAtOnce,
    tally,
    atWork: () => {
      for (const process of begun) if (!process.isAlive()) begun.delete(process);
      return begun.size;
    },
    run: (done, forMs) => clock.run(done, startMs + forMs),
    startScanner,
  };
}
