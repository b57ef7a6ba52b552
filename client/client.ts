/** The client over whatever it is given: `createClient` gives it AWS, a test gives it memory. */
import type { Json } from "../shared/json.ts";
import type { EffectKnown } from "../shared/model.ts";
import { type ClientParts, type CommandHandle, sendCommand } from "./command.ts";
import { type DoubtListing, type ListDoubtsOptions, listDoubts } from "./doubts.ts";
import { clientError } from "./errors.ts";
import { anyText, anything, callback, checkMembers, checkText, invalidOption, list, signal } from "./given.ts";
import { eachRun, type ListRunsOptions, listRuns, type RunPage, type RunSummary } from "./list-runs.ts";
import { unlessAborted } from "./poll.ts";
import { readOutput } from "./read-output.ts";
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
  /** At least one; `graph().nodes` makes them from typed nodes. */
  readonly nodes: readonly NodeRequest[];
};

export type SendOptions = {
  /** Ends the call with the signal's reason. A command that was on its way then may have arrived: sent again as it was, with its ids, it does no harm. */
  readonly signal?: AbortSignal;
};
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
   * @throws StartRefusedError for a form that no deployment would accept, ClientError `message_too_large`; nothing was sent then.
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
  /**
   * A page of the living runs, in an order that stays: whatever changes between pages, no run that lives all the while is
   * left out or shown twice. It costs one read unit for each run, and for each index shard that the page touches its keys
   * as a whole: a read unit for each 8 KB, some 80 runs. The first page of a small deployment touches all 16. The index
   * may be a moment behind, so a run of just now may be missing.
   * @throws ClientError `invalid_option`, for a cursor that no page gave too.
   */
  listRuns(options?: ListRunsOptions): Promise<RunPage>;
  /** All living runs, page after page of `limit`: as `listRuns`, which reads a shard again for each page that it spans. */
  eachRun(options?: ListRunsOptions): AsyncIterable<RunSummary>;
  /** The run and its nodes as they are now, or undefined where there is no such run. */
  getRun(runId: string, options?: SendOptions): Promise<RunView | undefined>;
  /** The run as it ended. @throws ClientError `no_such_run`, `timed_out`. */
  waitForRun(runId: string, options?: WaitForRunOptions): Promise<RunView>;
  /**
   * The node's output, also where the run's view says `outputBeside`: up to 5 MiB, from the table or from S3. Of a node that
   * FAILED since its output broke the tool's schema it is that raw value, where it was kept.
   * @throws ClientError `no_such_run`, `no_such_node`, `no_output` with `nodeStatus`, `not_configured` where the output
   * stands in S3 and nothing names the bucket.
   */
  getOutput(runId: string, nodeId: string, options?: SendOptions): Promise<Json>;
};

export const noValuesBucket = () =>
  clientError(
    "not_configured",
    "valuesBucket must name the bucket of the outputs above 16 KiB: give it to createClient, set LEASEHOLD_VALUES_BUCKET, or let the stack's outputs tell, got nothing",
  );

const noBlobs = { get: () => Promise.reject(noValuesBucket()) };

export function clientOver(parts: ClientParts): Client {
  const { table, clock, blobs = noBlobs } = parts;
  return {
    startRun: (request, options = {}) => startRun(parts, request, options),
    cancelRun: (runId, options = {}) => cancelRun(parts, runId, options),
    resolveNode: (runId, nodeId, request, options = {}) => resolveNode(parts, runId, nodeId, request, options),
    listDoubts: async (options = {}) => {
      checkMembers("listDoubts", options, { runId: anyText, signal });
      return unlessAborted(() => listDoubts(table, clock.nowMs(), options), options.signal);
    },
    listRuns: async (options = {}) => listRuns(table, clock.nowMs(), options),
    eachRun: (options = {}) => eachRun(table, clock.nowMs, options),
    getRun: async (runId, options = {}) => {
      checkRead("getRun", { runId }, options);
      return unlessAborted(() => readRun(table, runId, clock.nowMs()), options.signal);
    },
    waitForRun: async (runId, options = {}) => {
      checkText("waitForRun", "runId", runId);
      checkMembers("waitForRun", options, { timeoutMs: anything, signal, onChange: callback });
      return waitForRun(table, clock, runId, options);
    },
    getOutput: async (runId, nodeId, options = {}) => {
      checkRead("getOutput", { runId, nodeId }, options);
      return unlessAborted(() => readOutput({ table, blobs }, runId, nodeId, clock.nowMs()), options.signal);
    },
  };
}

function checkRead(where: string, ids: { readonly [name: string]: unknown }, options: SendOptions): void {
  for (const [name, id] of Object.entries(ids)) checkText(where, name, id);
  checkMembers(where, options, { signal });
}

const requestRules = { runId: anything, commandId: anything, deadlineMs: anything, nodes: list };
const nodeRules = { nodeId: anything, tool: anything, input: anything, dependsOn: list };

/** What each id and value may be is judged in the command that they make. */
function checkStart(request: StartRunRequest): void {
  checkMembers("startRun", request, requestRules);
  if (request.nodes === undefined) throw invalidOption("startRun", "nodes", "must be a list of nodes", undefined);
  for (const [index, node] of request.nodes.entries()) checkMembers("startRun", node, nodeRules, `nodes.${index}`);
}

async function startRun(parts: ClientParts, request: StartRunRequest, sending: SendOptions): Promise<CommandHandle> {
  checkStart(request);
  checkMembers("startRun", sending, { signal });
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
  return sendCommand(parts, command, { freshId: request.commandId === undefined, signal: sending.signal });
}

async function cancelRun(parts: ClientParts, runId: string, options: CancelRunOptions): Promise<CommandHandle> {
  checkMembers("cancelRun", options, { signal, reason: anything, commandId: anything });
  const command = {
    type: "cancel_run",
    command_id: options.commandId ?? parts.newId(),
    run_id: runId,
    ...(options.reason === undefined ? {} : { reason: options.reason }),
  } as const;
  return sendCommand(parts, command, { freshId: options.commandId === undefined, signal: options.signal });
}

const resolutionRules = {
  epoch: anything,
  by: anything,
  why: anything,
  commandId: anything,
  resolution: anything,
  output: anything,
  effect: anything,
};

async function resolveNode(
  parts: ClientParts,
  runId: string,
  nodeId: string,
  request: ResolveNodeRequest,
  sending: SendOptions,
): Promise<CommandHandle> {
  checkMembers("resolveNode", request, resolutionRules);
  checkMembers("resolveNode", sending, { signal });
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
  return sendCommand(parts, command, { freshId: commandId === undefined, signal: sending.signal });
}
