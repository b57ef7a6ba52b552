/** The client over whatever it is given: `createClient` gives it AWS, a test gives it memory. */
import type { EffectKnown } from "../shared/model.ts";
import { type ClientParts, type CommandHandle, sendCommand } from "./command.ts";
import { type DoubtListing, type ListDoubtsOptions, listDoubts } from "./doubts.ts";
import { readRun } from "./read-run.ts";
import type { RunView } from "./view.ts";
import { type WaitForRunOptions, waitForRun } from "./wait.ts";

export type NodeRequest = {
  readonly nodeId: string;
  readonly tool: string;
  /** JSON; may hold `{ "$output": nodeId, "pointer": "/a" }`. @default {} */
  readonly input?: unknown;
  readonly dependsOn?: readonly string[];
};

export type StartRunRequest = {
  /** The same id and the same content make one run, however often it is sent. @default a fresh id */
  readonly runId?: string;
  /** What the answer is filed under. @default a fresh id */
  readonly commandId?: string;
  /** How long the run may take, counted from its acceptance. @default the deployment's `runDeadlineMs` */
  readonly deadlineMs?: number;
  readonly nodes: readonly NodeRequest[];
};

export type SendOptions = { readonly signal?: AbortSignal };
export type CancelRunOptions = SendOptions & { readonly reason?: string; readonly commandId?: string };

/** What became of a node in doubt, and who says so on what grounds. */
export type ResolveNodeRequest = {
  /** The epoch in doubt, as the node's view shows it: any other is refused, since it speaks of another attempt. */
  readonly epoch: number;
  /** Who says so, and why: kept with the node, at most 256 and 1,024 characters. */
  readonly by: string;
  readonly why: string;
  /** What the answer is filed under. @default a fresh id */
  readonly commandId?: string;
} & (
  | {
      /** Its effect happened; `output` is JSON, what the tool would have returned, and must fit the tool's schema. */
      readonly resolution: "succeeded";
      readonly output: unknown;
    }
  /** Its effect did not happen and never will: the node runs again with a fresh budget. */
  | { readonly resolution: "not_done" }
  /** The node ends FAILED. `effect`: what is known of its effect. @default "unknown" */
  | { readonly resolution: "failed"; readonly effect?: EffectKnown }
);

export type Client = {
  /**
   * Resolves once the queue has the start: from then on it is durable, but not yet accepted.
   * @throws RefusedError for a form that no deployment would accept, ClientError `message_too_large`; nothing was sent then.
   */
  startRun(request: StartRunRequest, options?: SendOptions): Promise<CommandHandle>;
  /** As `startRun`. Its answer has `changed: false` and the final status where the run had ended before. */
  cancelRun(runId: string, options?: CancelRunOptions): Promise<CommandHandle>;
  /** As `startRun`; refused with `not_in_doubt` where the node is not in doubt at that epoch. The same twice changes nothing more. */
  resolveNode(
    runId: string,
    nodeId: string,
    request: ResolveNodeRequest,
    options?: SendOptions,
  ): Promise<CommandHandle>;
  /**
   * Nodes that wait for someone to say what became of them, the longest in doubt first. With `runId`, that run's: as `getRun`.
   * Without, those of all living runs: one query of each of the 16 index shards, one strong read of each living run, and
   * one query of the nodes of each run that is or was in doubt, so about one read unit a living run. The index may be a
   * moment behind, so a run of just now may be missing.
   * @throws ClientError `no_such_run`.
   */
  listDoubts(options?: ListDoubtsOptions): Promise<readonly DoubtListing[]>;
  /** The run and its nodes as they are now, or undefined where there is no such run. */
  getRun(runId: string): Promise<RunView | undefined>;
  /** The run as it ended. @throws ClientError `no_such_run`, `timed_out`. */
  waitForRun(runId: string, options?: WaitForRunOptions): Promise<RunView>;
};

export function clientOver(parts: ClientParts): Client {
  return {
    startRun: (request, options = {}) => startRun(parts, request, options),
    cancelRun: (runId, options = {}) => cancelRun(parts, runId, options),
    resolveNode: (runId, nodeId, request, options = {}) => resolveNode(parts, runId, nodeId, request, options),
    listDoubts: (options = {}) => listDoubts(parts.table, parts.clock.nowMs(), options),
    getRun: (runId) => readRun(parts.table, runId, parts.clock.nowMs()),
    waitForRun: (runId, options = {}) => waitForRun(parts.table, parts.clock, runId, options),
  };
}

async function startRun(parts: ClientParts, request: StartRunRequest, { signal }: SendOptions): Promise<CommandHandle> {
  const command = {
    type: "start_run",
    command_id: request.commandId ?? parts.newId(),
    run_id: request.runId ?? parts.newId(),
    ...(request.deadlineMs === undefined ? {} : { deadline_ms: request.deadlineMs }),
    nodes: request.nodes.map((node) => ({
      node_id: node.nodeId,
      tool: node.tool,
      input: node.input === undefined ? {} : node.input,
      depends_on: [...(node.dependsOn ?? [])],
    })),
  } as const;
  return sendCommand(parts, command, { freshId: request.commandId === undefined, signal });
}

async function cancelRun(parts: ClientParts, runId: string, options: CancelRunOptions): Promise<CommandHandle> {
  const command = {
    type: "cancel_run",
    command_id: options.commandId ?? parts.newId(),
    run_id: runId,
    ...(options.reason === undefined ? {} : { reason: options.reason }),
  } as const;
  return sendCommand(parts, command, { freshId: options.commandId === undefined, signal: options.signal });
}

async function resolveNode(
  parts: ClientParts,
  runId: string,
  nodeId: string,
  request: ResolveNodeRequest,
  { signal }: SendOptions,
): Promise<CommandHandle> {
  const { commandId, epoch, by, why } = request;
  const command = {
    type: "resolve_node",
    command_id: commandId ?? parts.newId(),
    run_id: runId,
    node_id: nodeId,
    epoch,
    by,
    why,
    resolution: request.resolution,
    ...(request.resolution === "succeeded" ? { output: request.output } : {}),
    ...(request.resolution === "failed" && request.effect !== undefined ? { effect: request.effect } : {}),
  } as const;
  return sendCommand(parts, command, { freshId: commandId === undefined, signal });
}
