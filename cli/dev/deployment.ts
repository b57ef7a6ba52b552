/**
 * A whole deployment in this process and in real time: the very cores of the functions over a table, a stream, a queue and
 * a rule in memory, in the parts of the simulation. Nothing strikes it, but a worker whose tools are bound to be killed.
 */
import { clientOver } from "../../client/client.ts";
import type { Client } from "../../client/index.ts";
import { systemChance } from "../../shared/adapters/chance.ts";
import { systemClock } from "../../shared/adapters/clock.ts";
import type { Outputs } from "../../shared/beside.ts";
import { handleCommand } from "../../shared/command.ts";
import { nodeKey } from "../../shared/keys.ts";
import type { Limits } from "../../shared/limits.ts";
import { dispatchSchema } from "../../shared/model.ts";
import { anyPool } from "../../shared/pools.ts";
import type { Log, World } from "../../shared/ports.ts";
import { readEntry, relayEntry } from "../../shared/relay.ts";
import { scanPass } from "../../shared/scan.ts";
import { type AnyTool, isCareful, toolTable } from "../../shared/tool.ts";
import { handleDelivery } from "../../shared/worker.ts";
import { nodeOf } from "../../testing/dispatched-node.ts";
import { noFaults, type ProcessKind } from "../../testing/faults.ts";
import { blobsOf, queueOf, type Surroundings, tableOf } from "../../testing/ports.ts";
import { type Process, startProcess } from "../../testing/process.ts";
import { type QueueMessage, type QueueModel, queueModel } from "../../testing/queue-model.ts";
import { streamModel } from "../../testing/stream-model.ts";
import { calmWeather, type Weather } from "../../testing/weather.ts";
import { widestBounds } from "../load-tools.ts";
import { boundTools, type Killed } from "./bound-tools.ts";
import { killedToolTimeMs } from "./dev-limits.ts";
import type { Say } from "./event.ts";
import type { Memory } from "./memory.ts";
import { realTime } from "./real-time.ts";
import { sideBySide } from "./side-by-side.ts";

export type Deployment = {
  readonly client: Client;
  readonly stored: Outputs & Pick<Memory, "table">;
  /** Resolves with the next write. */
  changed(): Promise<void>;
  /** All its invocations die, and nothing comes any more. */
  stop(): void;
};

export type DeploymentOptions = {
  readonly memory: Memory;
  readonly tools: readonly AnyTool[];
  /** The tools' own source files. */
  readonly files: readonly string[];
  readonly limits: Limits;
  /** Whether each node's worker is killed once after its tool has acted. */
  readonly kill: boolean;
  readonly say: Say;
};

/** As Lambda begins with a queue. */
const workers = 5;
const scanEveryMs = 60_000;
const weather: Weather = { ...calmWeather, records: () => [0], latencyMs: () => 0 };
const never = new Promise<never>(() => undefined);

export function deployment({ memory, tools, files, limits, kill, say }: DeploymentOptions): Deployment {
  const time = realTime();
  const table = toolTable(tools, anyPool(widestBounds));
  const killed: Killed | undefined = kill ? new Map() : undefined;
  const living = new Set<Process>();
  let processes = 0;
  let calls = 0;

  const begin = (kind: ProcessKind, timeoutMs: number, onDeath: () => void, nodeId?: string): Process => {
    const process = startProcess({
      id: processes++,
      kind,
      nodeId,
      clockwork: time,
      chance: systemChance,
      choose: noFaults,
      nextCallIndex: () => calls++,
      latencyMs: weather.latencyMs,
      clockOffsetMs: 0,
      onFault: () => undefined,
      onDeath: () => {
        living.delete(process);
        onDeath();
      },
    });
    living.add(process);
    time.at(time.nowMs() + timeoutMs, () => process.die());
    return process;
  };

  const finish = (process: Process): void => {
    living.delete(process);
    process.finish();
  };

  const around: Surroundings = {
    table: memory.table,
    itemAt: () => undefined,
    settleApplied: () => undefined,
    objects: memory.blobs,
    isBucketDown: () => false,
    dispatches: () => dispatches,
    onSent: () => undefined,
    keepRejected: ({ source, reason }) => {
      if (source !== "commands") say({ event: "error", message: `a message was refused: ${reason}` });
    },
    weather,
    nowMs: time.nowMs,
    runId: "",
    sabotage: {},
  };
  const worldOf = (process: Process): World => ({
    table: tableOf(process, around),
    queue: queueOf(process, around),
    clock: process.clock,
    chance: systemChance,
    log: troubleOnly(say),
    count: () => undefined,
  });

  /** A tool may take as long as it says; its invocation is over soon after, so that nobody has to wait for that for long. */
  const invocationMs = async (message: QueueMessage): Promise<number> => {
    if (!kill) return limits.functionTimeoutMs;
    const { run_id: runId, node_id: nodeId } = dispatchSchema.parse(JSON.parse(message.body));
    const node = await memory.table.get(nodeKey(runId, nodeId));
    return killedToolTimeMs(table.get(String(node?.tool))) + limits.abortGraceMs + limits.commitBufferMs;
  };

  const deliver = async (message: QueueMessage): Promise<void> => {
    const forMs = await invocationMs(message);
    const startedAtMs = time.nowMs();
    const died = new AbortController();
    const process = begin("worker", forMs, () => died.abort(), nodeOf(message));
    const remainingMs = () => startedAtMs + forMs - time.nowMs();
    const base = worldOf(process);
    const bound = boundTools(tools, {
      process,
      say,
      files,
      signal: died.signal,
      backInMs: (effect) => limits.skewMs + (isCareful(effect) ? remainingMs() : limits.leaseMs),
      ...(killed === undefined ? {} : { killed }),
    });
    const world = {
      ...base,
      limits,
      blobs: blobsOf(process, around),
      namespace: "dev",
      tools: toolTable(bound, anyPool(widestBounds)),
      pulse: { table: base.table, queue: base.queue },
      endProcess: () => {
        process.die();
        return never;
      },
    };
    const delivery = { messageId: message.id, receiptHandle: message.id, body: message.body };
    const death = new Promise<"redeliver">((resolve) =>
      died.signal.addEventListener("abort", () => resolve("redeliver"), { once: true }),
    );
    try {
      const verdict = await Promise.race([handleDelivery(world, delivery, { remainingMs }), death]);
      if (verdict === "acknowledge") dispatches.remove(message);
    } catch (error) {
      say({ event: "error", message: `${process.kind} failed, and its message comes back: ${String(error)}` });
    } finally {
      finish(process);
    }
  };

  const slots = sideBySide(workers);
  const receive = (message: QueueMessage): void => slots(() => deliver(message));
  const dispatches: QueueModel = queueModel(time, "dispatch", limits.queueVisibilityMs, () => true, receive);

  const plain = async (kind: ProcessKind, run: (world: World) => Promise<unknown>): Promise<void> => {
    const process = begin(kind, limits.plainFunctionTimeoutMs, () => undefined);
    try {
      await run(worldOf(process));
    } finally {
      finish(process);
    }
  };

  const stream = streamModel(
    time,
    weather,
    (image, again) => void plain("relay", (world) => relayEntry(world, readEntry(image))).catch(again),
    () => say({ event: "error", message: "an outbox entry could not be relayed in ten tries; the scanner heals it" }),
  );

  const scan = (): void => {
    const untilMs = time.nowMs() + limits.plainFunctionTimeoutMs;
    time.at(time.nowMs() + scanEveryMs, scan);
    // A pass that fails is followed by another one.
    void plain("scanner", (world) => scanPass(world, limits, () => untilMs - time.nowMs())).catch(() => undefined);
  };
  time.at(time.nowMs() + scanEveryMs, scan);

  const send = (body: string): Promise<void> => {
    const message = { messageId: systemChance.id(), body };
    return plain("commands", (world) =>
      handleCommand({ ...world, limits, blobs: memory.blobs, tools: table }, message),
    );
  };

  let waiting: (() => void)[] = [];
  const unlisten = memory.listen((item) => {
    if (item.kind === "outbox") stream.deliver(item);
    const woken = waiting;
    waiting = [];
    for (const wake of woken) wake();
  });

  return {
    client: clientOver({ table: memory.table, send, clock: systemClock, newId: systemChance.id }),
    stored: memory,
    changed: () => new Promise((resolve) => void waiting.push(resolve)),
    stop: () => {
      unlisten();
      time.stop();
      for (const process of living) process.die();
    },
  };
}

/** The core's own words are for operators; here only what went wrong is of use. */
const troubleOnly = (say: Say): Log => {
  const tell = (message: string, fields: unknown): void =>
    say({ event: "error", message: `${message} ${JSON.stringify(fields ?? {})}` });
  return { debug: () => undefined, info: () => undefined, warn: () => undefined, error: tell };
};
