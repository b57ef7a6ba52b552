/** The client over whatever it is given: `createClient` gives it AWS, a test gives it memory. */
import { type ClientParts, type CommandHandle, sendCommand } from "./command.ts";
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

export type Client = {
  /**
   * Resolves once the queue has the start: from then on it is durable, but not yet accepted.
   * @throws RefusedError for a form that no deployment would accept, ClientError `message_too_large`; nothing was sent then.
   */
  startRun(request: StartRunRequest, options?: SendOptions): Promise<CommandHandle>;
  /** As `startRun`. Its answer has `changed: false` and the final status where the run had ended before. */
  cancelRun(runId: string, options?: CancelRunOptions): Promise<CommandHandle>;
  /** The run and its nodes as they are now, or undefined where there is no such run. */
  getRun(runId: string): Promise<RunView | undefined>;
  /** The run as it ended. @throws ClientError `no_such_run`, `timed_out`. */
  waitForRun(runId: string, options?: WaitForRunOptions): Promise<RunView>;
};

export function clientOver(parts: ClientParts): Client {
  return {
    startRun: (request, options = {}) => startRun(parts, request, options),
    cancelRun: (runId, options = {}) => cancelRun(parts, runId, options),
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
