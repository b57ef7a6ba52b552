/** One command on its way: sent once, durable from then on, answered by an item that the sender may read. */
import { asciiJson } from "../shared/adapters/ascii-json.ts";
import type { SendCommand } from "../shared/adapters/command-queue.ts";
import { readAnswer } from "../shared/command.ts";
import { hashOf } from "../shared/keys.ts";
import {
  type Command,
  type CommandItem,
  type NodeStatus,
  type RunStatus,
  refusalSchema,
  resolveNodeSchema,
  startRunSchema,
} from "../shared/model.ts";
import type { Blobs, Clock } from "../shared/ports.ts";
import { resolveHash } from "../shared/resolve.ts";
import { startHash } from "../shared/start.ts";
import { checkSize, formFault } from "./check.ts";
import { clientError, refusedError } from "./errors.ts";
import { poll, unlessAborted, type WaitOptions } from "./poll.ts";
import type { ReadableTable } from "./read-run.ts";

export type Accepted = {
  readonly runId: string;
  readonly commandId: string;
  /** False where the command found its work done already: the same start, or a run that had ended. */
  readonly changed: boolean;
  /** The run's status when the command was answered. */
  readonly runStatus?: RunStatus;
  /** After a resolution: the node's status when it was answered. */
  readonly nodeStatus?: NodeStatus;
};

export type CommandHandle = {
  readonly runId: string;
  /** What the answer is filed under. */
  readonly commandId: string;
  /**
   * Waits for the deployment's answer. May be called again, after a time-out too.
   * @throws RefusedError (of a start, StartRefusedError) with code, node, field, rule and value; ClientError `timed_out`, `command_id_reused`.
   */
  accepted(options?: WaitOptions): Promise<Accepted>;
};

export type ClientParts = {
  readonly table: ReadableTable;
  readonly send: SendCommand;
  /** Where outputs above 16 KiB stand. @default none: `getOutput` of such a one throws `not_configured` */
  readonly blobs?: Pick<Blobs, "get">;
  readonly clock: Clock;
  /** A fresh id for a run or a command that was given none. */
  readonly newId: () => string;
};

/** A command that is still to be checked. */
export type Unchecked = {
  readonly type: Command["type"];
  readonly command_id: string;
  readonly run_id: string;
  readonly [field: string]: unknown;
};

const LONGEST_PAUSE_MS = 1_000;

/** @throws RefusedError where the command's form alone is a reason to refuse it, and ClientError `message_too_large`; then nothing was sent. */
export async function sendCommand(
  parts: ClientParts,
  command: Unchecked,
  options: { readonly freshId: boolean; readonly signal: AbortSignal | undefined },
): Promise<CommandHandle> {
  const { type, run_id: runId, command_id: commandId } = command;
  const refusal = formFault(command);
  if (refusal !== undefined) throw refusedError({ type, runId, commandId, refusal });
  const body = asciiJson(command);
  checkSize(command, body);
  // The sender ends with an error of its own, and what comes before it, such as the look-up of a stack, not at all.
  await unlessAborted(() => parts.send(body, options.signal), options.signal);
  const sent = { type, runId, commandId, hashes: options.freshId ? undefined : hashesOf(command, body) };
  return { runId, commandId, accepted: (options = {}) => answer(parts, sent, options) };
}

type Sent = {
  readonly type: Command["type"];
  readonly runId: string;
  readonly commandId: string;
  /** What an answer to this very content is marked with; undefined where a fresh id makes any answer this one's. */
  readonly hashes: readonly string[] | undefined;
};

/** A deployment that cannot read a command marks its answer with the hash of the body. */
function hashesOf(command: Unchecked, body: string): readonly string[] | undefined {
  const start = startRunSchema.safeParse(command);
  if (start.success) return [startHash(start.data), hashOf([body])];
  const resolution = resolveNodeSchema.safeParse(command);
  return resolution.success ? [resolveHash(resolution.data), hashOf([body])] : undefined;
}

async function answer(parts: ClientParts, sent: Sent, options: WaitOptions): Promise<Accepted> {
  const { type, runId, commandId } = sent;
  const waitsFor = `${type} of run ${JSON.stringify(runId)}, command ${JSON.stringify(commandId)}, was sent but not answered`;
  const item = await poll(parts.clock, { ...options, longestPauseMs: LONGEST_PAUSE_MS, waitsFor }, async () => {
    const read = await readAnswer(parts.table, commandId);
    return read === undefined || read.expires_at * 1_000 <= parts.clock.nowMs() ? undefined : read;
  });
  if (!answers(item, sent)) {
    throw clientError(
      "command_id_reused",
      `command_id must be new for each command, got ${JSON.stringify(commandId)}, under which another one was answered`,
    );
  }
  switch (item.outcome) {
    case "accepted":
      return {
        runId,
        commandId,
        changed: item.changed ?? true,
        ...(item.run_status === undefined ? {} : { runStatus: item.run_status }),
        ...(item.node_status === undefined ? {} : { nodeStatus: item.node_status }),
      };
    case "refused":
      throw refusedError({ type, runId, commandId, refusal: refusalOf(item) });
    default:
      return item.outcome satisfies never;
  }
}

/** An id that was used before brings the answer of then, which says nothing of what was sent now. */
function answers(item: CommandItem, { type, runId, hashes }: Sent): boolean {
  if (item.run_id !== undefined && item.run_id !== runId) return false;
  if (item.type !== type && item.type !== unreadableType) return false;
  return hashes === undefined || hashes.includes(item.content_hash);
}

/** The type under which a deployment answers a command that it cannot read, such as one of a later version. */
const unreadableType = "unreadable";

const refusalOf = (item: CommandItem) => refusalSchema.parse(JSON.parse(item.refusal ?? "null"));
