/** What came of a simulated run, as a user's assertion sees it. */
import { errorTextOf, outputTextOf } from "../shared/beside.ts";
import type { ErrorRecord } from "../shared/errors.ts";
import {
  type EffectKnown,
  isLiving,
  isTerminal,
  type NodeItem,
  type NodeStatus,
  nodeItemSchema,
  type RunItem,
  runItemSchema,
} from "../shared/model.ts";
import type { Engine } from "./engine.ts";
import type { Call, Port, ProcessKind } from "./faults.ts";

/** One call that a function made: a place where it may be killed. */
export type MadeCall = {
  /** Its number, from 0, in the order in which calls are made: the same in every run up to the first that is disturbed. */
  readonly index: number;
  readonly function: ProcessKind;
  /** `tool` is a user's code; the others are ports of the table, the bucket and the queue. */
  readonly port: Port;
  /** `execute`, `reconcile`, the name given to `callOutside`, or the name of what is read or written. */
  readonly what: string;
  /** The node that it is about, where it is about one. */
  readonly nodeId?: string;
};

export type NodeOutcome = {
  readonly tool: string;
  /** `IN_DOUBT` where someone must say what became of its effect: `outcome.resolve`. */
  readonly status: NodeStatus;
  /** What is known of its effect; missing while it has not ended. */
  readonly effect?: EffectKnown;
  /** Attempts that were counted, those of killed workers too. */
  readonly attempts: number;
  /** Missing where there is none. */
  readonly output?: unknown;
  /** The latest attempt's error, also of a node that succeeded later. */
  readonly error?: ErrorRecord;
  /** Why it is in doubt, while it is. */
  readonly doubt?: string;
};

export type StoredRun = { readonly run: RunItem; readonly nodes: readonly NodeItem[] };

/** @returns undefined while there is no run. */
export function storedRun(made: Engine): StoredRun | undefined {
  const items = [...made.items()];
  const run = items.find((item) => item.kind === "run");
  if (run === undefined) return undefined;
  const nodes = items.filter((item) => item.kind === "node").map((item) => nodeItemSchema.parse(item));
  return { run: runItemSchema.parse(run), nodes };
}

/** Ended, or waiting for nothing but a person's word: no message, scan or stream record will change it. */
export function isAtRest({ run, nodes }: StoredRun): boolean {
  if (!isLiving(run.status)) return true;
  if (!nodes.some((node) => node.status === "IN_DOUBT")) return false;
  const living = new Set(nodes.filter((node) => !isTerminal(node.status)).map((node) => node.ordinal));
  return nodes.every((node) => {
    if (isTerminal(node.status) || node.status === "IN_DOUBT") return true;
    // One whose parents have all ended is still to be advanced.
    return node.status === "PENDING" && [...(node.waiting_on ?? [])].some((ordinal) => living.has(ordinal));
  });
}

export async function nodeOutcomes(
  { nodes }: StoredRun,
  stored: Engine["stored"],
): Promise<Readonly<Record<string, NodeOutcome>>> {
  const named = nodes.toSorted((left, right) => left.ordinal - right.ordinal);
  const entries = named.map(async (node) => [node.node_id, await nodeOutcome(node, stored)] as const);
  return Object.fromEntries(await Promise.all(entries));
}

async function nodeOutcome(node: NodeItem, stored: Engine["stored"]): Promise<NodeOutcome> {
  const output = await outputTextOf(stored, node);
  const error = await errorTextOf(stored.table, node);
  return {
    tool: node.tool,
    status: node.status,
    attempts: node.attempts_used,
    ...(node.effect === undefined ? {} : { effect: node.effect }),
    ...(output === undefined ? {} : { output: JSON.parse(output) as unknown }),
    ...(error === undefined ? {} : { error: JSON.parse(error) as ErrorRecord }),
    ...(node.status === "IN_DOUBT" && node.doubt !== undefined
      ? { doubt: String((JSON.parse(node.doubt) as { why?: unknown }).why) }
      : {}),
  };
}

export const madeCall = ({ index, process, port, what, nodeId }: Call): MadeCall => ({
  index,
  function: process,
  port,
  what,
  ...(nodeId === undefined ? {} : { nodeId }),
});

/** As in `worker was killed after write "claim" of node "pay"`. */
export const toldCall = ({ port, what, nodeId }: MadeCall): string =>
  `${port} ${JSON.stringify(what)}${nodeId === undefined ? "" : ` of node ${JSON.stringify(nodeId)}`}`;
