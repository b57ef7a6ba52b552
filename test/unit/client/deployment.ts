/** A deployment that a test plays: a table in memory, a queue that only keeps what was sent, a clock that runs when slept on. */
import { type Client, clientOver } from "../../../client/client.ts";
import { type MemoryBlobs, memoryBlobs } from "../../../shared/adapters/memory-blobs.ts";
import { memoryTable } from "../../../shared/adapters/memory-table.ts";
import { commandKey, dependentsKey, nodeKey, runKey } from "../../../shared/keys.ts";
import {
  type Command,
  type NodeStatus,
  type Refusal,
  resolveNodeSchema,
  startRunSchema,
} from "../../../shared/model.ts";
import type { Clock, Table } from "../../../shared/ports.ts";
import { resolveHash } from "../../../shared/resolve.ts";
import { startHash } from "../../../shared/start.ts";
import type { Item, Key } from "../../../shared/write.ts";

export const startedAtMs = Date.UTC(2030, 0, 1);
const expiresAt = startedAtMs / 1_000 + 86_400;

export type Deployment = {
  readonly client: Client;
  readonly table: Table;
  readonly blobs: MemoryBlobs;
  /** Bodies, in the order they were sent. */
  readonly sent: string[];
  readonly put: (item: Item & Key) => Promise<void>;
  /** Does something once the clock has gone on for so long. */
  readonly after: (ms: number, act: () => Promise<void> | void) => void;
  readonly elapsedMs: () => number;
};

type Options = {
  /** Called with each command after it was sent. */
  readonly onCommand?: (command: Command & { command_id: string }, deployment: Deployment) => Promise<void> | void;
  readonly send?: (body: string) => Promise<void>;
  /** Keeps each read from ever coming back. */
  readonly silent?: boolean;
  /** Nothing names the bucket of large outputs. */
  readonly withoutBlobs?: boolean;
};

export function deploymentOf(options: Options = {}): Deployment {
  const table = memoryTable();
  const blobs = memoryBlobs();
  const sent: string[] = [];
  const planned: { readonly atMs: number; readonly act: () => Promise<void> | void }[] = [];
  let elapsedMs = 0;
  const clock: Clock = {
    nowMs: () => startedAtMs + elapsedMs,
    monotonicMs: () => elapsedMs,
    sleep: async (ms) => {
      elapsedMs += ms;
      for (const plan of planned.filter(({ atMs }) => atMs <= elapsedMs)) {
        planned.splice(planned.indexOf(plan), 1);
        await plan.act();
      }
    },
  };
  const put = async ({ pk, sk, ...item }: Item & Key): Promise<void> => {
    await table.write({ op: "put", name: "test", key: { pk, sk }, item, conditions: [] });
  };
  let ids = 0;
  const never = () => new Promise<never>(() => {});
  const client = clientOver({
    table: options.silent ? { get: never, query: never, dueRuns: never } : table,
    send: async (body) => {
      await options.send?.(body);
      sent.push(body);
      await options.onCommand?.(JSON.parse(body), deployment);
    },
    ...(options.withoutBlobs === true ? {} : { blobs }),
    clock,
    newId: () => `id-${++ids}`,
  });
  const deployment: Deployment = {
    client,
    table,
    blobs,
    sent,
    put,
    after: (ms, act) => planned.push({ atMs: elapsedMs + ms, act }),
    elapsedMs: () => elapsedMs,
  };
  return deployment;
}

/** Accepts whatever comes and lets the run exist, its nodes READY or PENDING. */
export const acceptsAll: Options = {
  onCommand: async (command, { put }) => {
    await put(answerItem(command));
    if (command.type !== "start_run") return;
    await put(runItem({ run_id: command.run_id, node_count: command.nodes.length }));
    for (const [ordinal, { node_id, tool, depends_on }] of command.nodes.entries()) {
      const status: NodeStatus = depends_on.length === 0 ? "READY" : "PENDING";
      await put(nodeItem({ run_id: command.run_id, node_id, tool, ordinal, status }));
    }
  },
};

export const refusesAll = (refusal: Refusal): Options => ({
  onCommand: (command, { put }) => put(answerItem(command, { outcome: "refused", refusal: JSON.stringify(refusal) })),
});

export const answerItem = (
  command: { readonly type: string; readonly run_id: string; readonly command_id: string },
  more: Item = {},
): Item & Key => ({
  ...commandKey(command.command_id),
  kind: "command",
  v: 1,
  command_id: command.command_id,
  type: command.type,
  content_hash: hashOfCommand(command),
  outcome: "accepted",
  run_id: command.run_id,
  answered_at_ms: startedAtMs,
  expires_at: expiresAt,
  ...more,
});

const hashOfCommand = (command: unknown): string => {
  const start = startRunSchema.safeParse(command);
  if (start.success) return startHash(start.data);
  const resolution = resolveNodeSchema.safeParse(command);
  return resolution.success ? resolveHash(resolution.data) : "hash";
};

export const runItem = (more: Item = {}): Item & Key => ({
  ...runKey(String(more.run_id ?? "run")),
  kind: "run",
  v: 1,
  run_id: "run",
  generation: "g1",
  status: "RUNNING",
  content_hash: "hash",
  node_count: 1,
  created_at_ms: startedAtMs,
  deadline_at_ms: startedAtMs + 3_600_000,
  scanned_at_ms: startedAtMs,
  expires_at: expiresAt,
  ...more,
});

export const nodeItem = (more: Item = {}): Item & Key => ({
  ...nodeKey(String(more.run_id ?? "run"), String(more.node_id ?? "node")),
  kind: "node",
  v: 1,
  run_id: "run",
  node_id: "node",
  generation: "g1",
  ordinal: 0,
  tool: "noop",
  status: "READY",
  dispatch_id: "d-0",
  epoch: 0,
  attempts_used: 0,
  max_attempts: 5,
  certain_through_epoch: 0,
  deadline_at_ms: startedAtMs + 3_600_000,
  expires_at: expiresAt,
  ...more,
});

export const besideItem = (key: Key, value: string, more: Item = {}): Item & Key => ({
  ...key,
  kind: "beside",
  v: 1,
  generation: "g1",
  value,
  expires_at: expiresAt,
  ...more,
});

export const dependentsItem = (runId: string, nodeId: string, dependents: readonly (readonly [string, 0 | 1])[]) =>
  besideItem(dependentsKey(runId, nodeId), JSON.stringify(dependents));
