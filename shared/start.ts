/** Builds a run: the one transaction that makes it, or the rule that its start breaks. */
import type { z } from "zod";
import type { GraphNode } from "./graph.ts";
import { graphOf, sinksOf } from "./graph.ts";
import { canonicalJson, type Json } from "./json.ts";
import { commandKey, dependentsKey, hashOf, inputKey, nodeKey, runKey, scanShardOf } from "./keys.ts";
import { fixed, type Limits } from "./limits.ts";
import type { Dependent, NodeCommand, Refusal, StartRun } from "./model.ts";
import { putOutbox } from "./outbox.ts";
import { referencesIn, resolveReferences } from "./references.ts";
import { fitsInside } from "./size.ts";
import type { AnyTool } from "./tool.ts";
import { dispatchIdAt } from "./transitions.ts";
import type { Condition, Item, Put } from "./write.ts";

export type Start = {
  readonly command: StartRun;
  readonly commandId: string;
  readonly tools: ReadonlyMap<string, AnyTool>;
  readonly limits: Limits;
  readonly nowMs: number;
  /** Fresh for each try: tells this run from an expired one of the same id. */
  readonly generation: string;
};

/** What makes two starts the same: everything but the id of the command that carried it. */
export const startHash = ({ command_id: _, ...content }: StartRun): string =>
  hashOf([canonicalJson(JSON.parse(JSON.stringify(content)))]);

/** The run's own write is the first, the command's answer the second. */
export async function startRun(start: Start): Promise<readonly Put[] | Refusal> {
  const writes = startWrites(start);
  if (!("length" in writes)) return writes;
  for (const node of start.command.nodes) {
    const refusal = await inputFault(node, start.tools.get(node.tool));
    if (refusal !== undefined) return refusal;
  }
  if (writes.length > fixed.transactionActions) {
    return {
      code: "too_many_nodes",
      field: "nodes",
      rule: `a start must fit one transaction of ${fixed.transactionActions} items: the run, its answer, its first messages, each node, and each input or list of dependents too large for its node`,
      value: `${start.command.nodes.length} nodes, ${writes.length} items`,
    };
  }
  return writes;
}

/** The same, however many they are: more than one transaction can hold must become visible in another way. */
export function startWrites(start: Start): readonly Put[] | Refusal {
  const graph = graphOf(start.command.nodes);
  if (!("length" in graph)) return graph;
  for (const node of graph) {
    const refusal = toolFault(node, start.tools);
    if (refusal !== undefined) return refusal;
  }
  return writesOf(start, withPools(graph, start.tools));
}

/** Only who waits for one node alone is made READY by a commit, which must then know where to send its message. */
function withPools(graph: readonly GraphNode[], tools: ReadonlyMap<string, AnyTool>): readonly GraphNode[] {
  const pools = new Map(graph.map(({ command }) => [command.node_id, tools.get(command.tool)?.pool]));
  const named = ([nodeId, alone]: Dependent): Dependent => {
    const pool = alone === 1 ? pools.get(nodeId) : undefined;
    return pool === undefined ? [nodeId, alone] : [nodeId, alone, pool];
  };
  return graph.map((node) => ({ ...node, dependents: node.dependents.map(named) }));
}

function toolFault(node: GraphNode, tools: ReadonlyMap<string, AnyTool>): Refusal | undefined {
  const { node_id, tool: name, input } = node.command;
  const tool = tools.get(name);
  if (tool === undefined) {
    return {
      code: "unknown_tool",
      node: node_id,
      field: "tool",
      rule: `must be one of ${[...tools.keys()].join(", ")}`,
      value: name,
    };
  }
  const bytes = Buffer.byteLength(JSON.stringify(input), "utf8");
  if (bytes > fixed.valueBytes) {
    return {
      code: "input_too_large",
      node: node_id,
      field: "input",
      rule: `must be at most ${fixed.valueBytes} bytes of JSON`,
      value: `${bytes} bytes`,
    };
  }
  return undefined;
}

/** An input with references is checked by the worker, once it is known what they stand for. */
async function inputFault(
  { node_id, input: raw }: NodeCommand,
  tool: AnyTool | undefined,
): Promise<Refusal | undefined> {
  if (tool === undefined || referencesIn(raw).references.length > 0) return undefined;
  const input = resolveReferences(raw, () => null);
  const parsed = await parse(tool.input, input);
  if (parsed === undefined || parsed.success) return undefined;
  const issue = parsed.error.issues[0];
  const path = (issue?.path ?? []).map(String);
  return {
    code: "bad_input",
    node: node_id,
    field: ["input", ...path].join("."),
    rule: issue?.message ?? "must fit the tool's schema",
    value: canonicalJson(valueAt(input, path)),
  };
}

/** A schema that throws is asked again by the worker, whose node can fail for it; it must not keep the command coming back. */
async function parse(schema: z.ZodType, input: Json): Promise<z.ZodSafeParseResult<unknown> | undefined> {
  try {
    return await schema.safeParseAsync(input);
  } catch {
    return undefined;
  }
}

function valueAt(value: Json, path: readonly string[]): Json {
  let found: Json = value;
  for (const part of path) {
    if (typeof found !== "object" || found === null || !Object.hasOwn(found, part)) return null;
    const next: Json | undefined = Array.isArray(found)
      ? found[Number(part)]
      : (found as { readonly [name: string]: Json })[part];
    found = next ?? null;
  }
  return found;
}

/** Expired items may still be there for days (ttl-expired-items.html): a start treats them as absent. */
const absentOrExpired = (nowMs: number): readonly Condition[] => [
  {
    anyOf: [[{ attr: "pk", is: "missing" }], [{ attr: "expires_at", is: "atMost", value: Math.floor(nowMs / 1_000) }]],
  },
];

function writesOf(start: Start, graph: readonly GraphNode[]): readonly Put[] {
  const { command, commandId, generation, limits, nowMs } = start;
  const runId = command.run_id;
  const deadlineAtMs = nowMs + (command.deadline_ms ?? limits.runDeadlineMs);
  const expiresAt = Math.ceil((deadlineAtMs + limits.retentionMs) / 1_000);
  const contentHash = startHash(command);
  const run: Put = {
    op: "put",
    name: "start_run",
    key: runKey(runId),
    item: {
      kind: "run",
      v: 1,
      run_id: runId,
      generation,
      status: "RUNNING",
      content_hash: contentHash,
      node_count: graph.length,
      created_at_ms: nowMs,
      deadline_at_ms: deadlineAtMs,
      waiting_on: sinksOf(graph),
      scan_shard: scanShardOf(runId),
      scan_at_ms: nowMs + limits.scanEveryMs,
      scanned_at_ms: nowMs,
      retention_ms: limits.retentionMs,
      expires_at: expiresAt,
    },
    conditions: absentOrExpired(nowMs),
  };
  const answer = putAnswer({
    commandId,
    type: command.type,
    contentHash,
    nowMs,
    limits,
    answer: { outcome: "accepted", run_id: runId, run_status: "RUNNING", changed: true },
  });
  const roots = graph.filter((node) => node.dependsOn.length === 0);
  const messages = roots.map(({ command: { node_id: nodeId, tool } }) => ({
    nodeId,
    dispatchId: dispatchIdAt(0),
    notBeforeMs: 0,
    pool: start.tools.get(tool)?.pool,
  }));
  const entry = putOutbox(runId, generation, "start", { messages }, nowMs);
  return [run, answer, ...graph.flatMap((node) => nodeWrites(start, graph, node, deadlineAtMs, expiresAt)), entry];
}

/** What a node gains on its way: the lease, the times, a short error or output. Kept free, so that it stays in one write unit. */
const reservedBytes = 330;

function nodeWrites(
  start: Start,
  graph: readonly GraphNode[],
  node: GraphNode,
  deadlineAtMs: number,
  expiresAt: number,
): readonly Put[] {
  const { command, generation, limits, nowMs, tools } = start;
  const runId = command.run_id;
  const { node_id: nodeId, tool, input } = node.command;
  const isRoot = node.dependsOn.length === 0;
  const ordinals = new Map(graph.map((other) => [other.command.node_id, other.ordinal]));
  const pool = tools.get(tool)?.pool;
  let item: Item = {
    kind: "node",
    v: 1,
    generation,
    ordinal: node.ordinal,
    tool,
    ...(pool === undefined ? {} : { pool }),
    status: isRoot ? "READY" : "PENDING",
    dispatch_id: dispatchIdAt(0),
    epoch: 0,
    attempts_used: 0,
    max_attempts: tools.get(tool)?.retry?.attempts ?? limits.attempts,
    certain_through_epoch: 0,
    deadline_at_ms: deadlineAtMs,
    ...(isRoot
      ? { ready_at_ms: nowMs, not_before_ms: 0 }
      : { waiting_on: new Set(node.dependsOn.flatMap((id) => ordinals.get(id) ?? [])) }),
    expires_at: expiresAt,
  };
  const beside: Put[] = [];
  const key = nodeKey(runId, nodeId);
  const parts = [
    {
      name: "dependents",
      text: JSON.stringify(node.dependents),
      key: dependentsKey(runId, nodeId),
      skip: node.dependents.length === 0,
    },
    { name: "input", text: JSON.stringify(input), key: inputKey(runId, nodeId), skip: false },
  ];
  for (const part of parts) {
    if (part.skip) continue;
    if (fitsInside({ ...key, ...item }, part.name, part.text, reservedBytes))
      item = { ...item, [part.name]: part.text };
    else {
      item = { ...item, [`${part.name}_beside`]: true };
      beside.push({
        op: "put",
        name: `${part.name}_beside`,
        key: part.key,
        item: { kind: "beside", v: 1, generation, value: part.text, expires_at: expiresAt },
        conditions: [],
      });
    }
  }
  return [{ op: "put", name: "create_node", key, item, conditions: [] }, ...beside];
}

export type CommandAnswer = {
  readonly commandId: string;
  readonly type: string;
  readonly contentHash: string;
  readonly nowMs: number;
  readonly limits: Limits;
  readonly answer: Item;
};

/** What the sender of a command may poll. Written once: a later command under the same id finds it taken. */
export const putAnswer = ({ commandId, type, contentHash, nowMs, limits, answer }: CommandAnswer): Put => ({
  op: "put",
  name: "answer_command",
  key: commandKey(commandId),
  item: {
    kind: "command",
    v: 1,
    command_id: commandId,
    type,
    content_hash: contentHash,
    ...answer,
    answered_at_ms: nowMs,
    expires_at: Math.ceil((nowMs + limits.retentionMs) / 1_000),
  },
  conditions: absentOrExpired(nowMs),
});
