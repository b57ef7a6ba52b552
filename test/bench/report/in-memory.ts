/** One undisturbed run in memory, by the code of the deployed functions, with everything counted that has a price. */
import { systemChance } from "../../../shared/adapters/chance.ts";
import { systemClock } from "../../../shared/adapters/clock.ts";
import { memoryBlobs } from "../../../shared/adapters/memory-blobs.ts";
import { handleCommand } from "../../../shared/command.ts";
import { runKey } from "../../../shared/keys.ts";
import { fixed, limitsWith } from "../../../shared/limits.ts";
import { runItemSchema, startRunSchema } from "../../../shared/model.ts";
import type { Blobs, Clock, Log, Outgoing, Queue, World } from "../../../shared/ports.ts";
import { readEntry, relayEntry } from "../../../shared/relay.ts";
import { scanPass } from "../../../shared/scan.ts";
import { startWrites } from "../../../shared/start.ts";
import { handleDelivery } from "../../../shared/worker.ts";
import type { Put } from "../../../shared/write.ts";
import { countingTable } from "./counting-table.ts";
import { type BenchGraph, startOf } from "./graphs.ts";
import { type FunctionName, noTallies, noTally, type Tallies, type Tally, tallyKeys } from "./tally.ts";
import { tools } from "./tools.ts";

export type CountedRun = {
  readonly graph: string;
  readonly nodes: number;
  readonly tallies: Tallies;
  /** What a pass of the scanner costs where no run is due, and what a living run adds to it. */
  readonly idlePass: Tally;
  readonly scanOfRun: Tally;
};

const silent: Log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const limits = limitsWith();
const byName = new Map(tools.map((tool) => [tool.name, tool]));
const runId = "run-1";

export async function countInMemory(graph: BenchGraph): Promise<CountedRun> {
  const table = countingTable();
  const tallies = noTallies();
  const messages: Outgoing[] = [];
  const blobs = memoryBlobs();
  let aheadMs = 0;
  const clock: Clock = { ...systemClock, nowMs: () => systemClock.nowMs() + aheadMs };

  const worldOf = (tally: Tally): World => ({
    table: table.for(tally),
    queue: queueOf(tally, messages),
    clock,
    chance: systemChance,
    log: silent,
    count: () => {},
  });
  const invoke = (name: FunctionName): World => {
    tallies[name].invocations += 1;
    return worldOf(tallies[name]);
  };

  const start = startOf(graph, runId, "noop");
  const commands = { ...invoke("commands"), limits, blobs: blobsOf(tallies.commands, blobs), tools: byName };
  if (graph.inParts) await writeInParts(commands, start);
  else await handleCommand(commands, { messageId: "start", body: JSON.stringify(start) });

  const remainingMs = (): number => limits.functionTimeoutMs;
  const scan = async (tally: Tally): Promise<Tally> => {
    await scanPass({ ...worldOf(tally), queue: queueOf(tally, []) }, limits, remainingMs);
    return tally;
  };
  // The minute after the start, before anything has run: the run is due for its look, and its nodes are as they will mostly be.
  const idlePass = await scan(noTally());
  aheadMs = limits.scanEveryMs;
  const whole = await scan(noTally());
  aheadMs = 0;

  for (;;) {
    for (const entry of table.newEntries()) await relayEntry(invoke("relay"), readEntry(entry));
    const message = messages.shift();
    if (message === undefined) break;
    const world = invoke("worker");
    const worker = {
      ...world,
      limits,
      blobs: blobsOf(tallies.worker, blobs),
      namespace: "bench",
      tools: byName,
      pulse: world,
      endProcess: () => Promise.reject(new Error("no process ends here")),
    };
    const delivery = { messageId: systemChance.id(), receiptHandle: "r", body: JSON.stringify(message.dispatch) };
    const verdict = await handleDelivery(worker, delivery, { remainingMs });
    if (verdict !== "acknowledge") throw new Error(`node ${message.dispatch.node_id} was not done`);
  }
  const run = runItemSchema.parse(await table.for(noTally()).get(runKey(runId)));
  if (run.status !== "SUCCEEDED") throw new Error(`the run of ${graph.name} is ${run.status}`);
  return { graph: graph.name, nodes: graph.nodes.length, tallies, idlePass, scanOfRun: less(whole, idlePass) };
}

/** As a start would be written if it could come in parts: the same items, a full transaction at a time. */
async function writeInParts(world: World, start: object): Promise<void> {
  const writes = startWrites({
    command: startRunSchema.parse(start),
    commandId: "start",
    tools: byName,
    limits,
    nowMs: world.clock.nowMs(),
    generation: world.chance.id(),
  });
  if (!("length" in writes)) throw new Error(`the run cannot be made: ${JSON.stringify(writes)}`);
  for (const part of partsOf(writes, fixed.transactionActions)) {
    const answer = await world.table.transact(part);
    if (answer.is !== "applied") throw new Error(`a part of the start is ${answer.is}`);
  }
}

const partsOf = (writes: readonly Put[], size: number): readonly (readonly Put[])[] =>
  Array.from({ length: Math.ceil(writes.length / size) }, (_, part) => writes.slice(part * size, (part + 1) * size));

const queueOf = (tally: Tally, sent: Outgoing[]): Queue => ({
  send: async (outgoing) => {
    tally.sendRequests += Math.ceil(outgoing.length / fixed.sendBatch);
    tally.messages += outgoing.length;
    sent.push(...outgoing);
    return [];
  },
  reject: () => Promise.reject(new Error("nothing is rejected here")),
  hide: async () => {
    tally.hides += 1;
  },
});

const blobsOf = (tally: Tally, blobs: Blobs): Blobs => ({
  put: (key, text) => {
    tally.blobPuts += 1;
    return blobs.put(key, text);
  },
  get: (key) => {
    tally.blobGets += 1;
    return blobs.get(key);
  },
});

function less(whole: Tally, part: Tally): Tally {
  const left = noTally();
  for (const key of tallyKeys) left[key] = whole[key] - part[key];
  return left;
}
