/** The ports of one process over a table, a bucket and queues in memory: every call of them is a place where faults strike. */
import { nodePrefix, scanShardOf } from "../shared/keys.ts";
import type {
  BlobAnswer,
  Blobs,
  Outgoing,
  Queue,
  Rejection,
  Table,
  TransactAnswer,
  WriteAnswer,
} from "../shared/ports.ts";
import type { Item, Key, Write } from "../shared/write.ts";
import type { Process } from "./process.ts";
import type { QueueModel } from "./queue-model.ts";
import type { Sabotage } from "./sabotage.ts";
import type { Weather } from "./weather.ts";

/** What all processes share. */
export type Surroundings = {
  readonly table: Table;
  readonly itemAt: (pk: string, sk: string) => Item | undefined;
  /** To be called when a write of the table may have been applied. */
  readonly settleApplied: (by: Process) => void;
  readonly objects: Blobs;
  readonly isBucketDown: () => boolean;
  readonly dispatches: () => QueueModel;
  readonly onSent: (message: Outgoing, by: Process) => void;
  readonly keepRejected: (rejection: Rejection) => void;
  readonly weather: Weather;
  readonly nowMs: () => number;
  readonly runId: string;
  readonly sabotage: Sabotage;
};

const unknown = async () => ({ is: "unknown", why: "injected" }) as const;
const busy = async () => ({ is: "busy", why: "injected" }) as const;
const nodeOf = ({ sk }: Key): string | undefined =>
  sk.startsWith(nodePrefix) ? sk.slice(nodePrefix.length) : undefined;

export function tableOf(process: Process, around: Surroundings): Table {
  const { table, itemAt, weather } = around;
  const { write: alter, outboxApart, ...answers } = around.sabotage;
  const { writeAnswer = (answer) => answer, transactAnswer = (answer) => answer } = answers;
  const runShard = scanShardOf(around.runId);
  const altered = (write: Write): Write =>
    alter === undefined ? write : alter(write, itemAt(write.key.pk, write.key.sk), process.kind);
  const fails = async (): Promise<never> => {
    throw new Error("the table did not answer");
  };
  const wrongRead = { error: fails, lostReply: fails };
  const wrongWrite = { error: unknown, busy, lostReply: unknown };
  const applied = async <A>(make: () => Promise<A>): Promise<A> => {
    const made = make();
    around.settleApplied(process);
    return made;
  };
  return {
    get: (key) => process.call("get", key.sk.split("#")[0] ?? "", () => table.get(key), wrongRead, nodeOf(key)),
    query: (pk, prefix) => process.call("query", prefix, () => table.query(pk, prefix), wrongRead),
    dueRuns: (shard, dueAtMs, limit) => {
      const read = () => table.dueRuns(shard, dueAtMs - weather.indexLagMs(), limit);
      // Of the empty shards one stands for all: a pass that dies at any of them dies before, or after, the run's own.
      if (shard !== 0 && shard !== runShard) return read();
      return process.call("dueRuns", "scan", read, wrongRead);
    },
    write: async (write) => {
      const make = () => applied(() => table.write(altered(write)));
      return writeAnswer(await process.call<WriteAnswer>("write", write.name, make, wrongWrite, nodeOf(write.key)));
    },
    transact: async (writes) => {
      const apart = outboxApart === true ? writes.filter((write) => write.name === "outbox") : [];
      const together = writes.filter((write) => !apart.includes(write));
      const [first] = writes;
      const answer = await process.call<TransactAnswer>(
        "transact",
        first?.name ?? "",
        () => applied(() => table.transact(together.map(altered))),
        wrongWrite,
        first && nodeOf(first.key),
      );
      if (answer.is === "applied") {
        for (const write of apart)
          await process.call("write", write.name, () => applied(() => table.write(write)), wrongWrite);
      }
      return transactAnswer(answer, writes);
    },
  };
}

export function blobsOf(process: Process, { objects, isBucketDown }: Surroundings): Blobs {
  const fails = async (): Promise<never> => {
    throw new Error("the bucket did not answer");
  };
  const put = (key: string, text: string) => (isBucketDown() ? unknown() : objects.put(key, text));
  const get = (key: string) => (isBucketDown() ? fails() : objects.get(key));
  return {
    put: (key, text) =>
      process.call<BlobAnswer>("blob", "put", () => put(key, text), { error: unknown, busy, lostReply: unknown }),
    get: (key) => process.call("blob", "get", () => get(key), { error: fails, lostReply: fails }),
  };
}

export function queueOf(process: Process, around: Surroundings): Queue {
  const fails = async (): Promise<never> => {
    throw new Error("the queue did not answer");
  };
  const wrong = { error: fails, lostReply: fails };
  return {
    send: (messages) => {
      if (messages.length === 0) return Promise.resolve([]);
      const send = async () => {
        for (const message of messages) {
          around.onSent(message, process);
          const { dispatch, delayMs } = message;
          const shownMs = Math.min(Math.ceil(delayMs / 1_000), 900) * 1_000;
          for (const lateMs of around.weather.arrivals(around.nowMs()))
            around.dispatches().put(JSON.stringify(dispatch), shownMs + lateMs);
        }
        return [];
      };
      const all = async () => messages;
      const about = messages.length === 1 ? messages[0]?.dispatch.node_id : undefined;
      return process.call("send", "dispatch", send, { error: all, lostReply: all }, about);
    },
    reject: (rejection) => process.call("reject", rejection.source, async () => around.keepRejected(rejection), wrong),
    hide: (receiptHandle, forMs) => {
      const hide = async () => {
        const message = around.dispatches().messages.find((one) => one.id === receiptHandle);
        if (message !== undefined) around.dispatches().hide(message, Math.ceil(forMs / 1_000) * 1_000);
      };
      return process.call("hide", "visibility", hide, wrong);
    },
  };
}
