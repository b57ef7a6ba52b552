/** What should have happened in a run and has not, from its nodes' states alone (I7). */
import { fixed, type Limits } from "./limits.ts";
import { type Dependent, isLiving, isTerminal, type NodeItem, type RunItem } from "./model.ts";
import type { Outgoing } from "./ports.ts";

export type SeenNode = { readonly node: NodeItem; readonly dependents: readonly Dependent[] };

export type Owed = {
  /** Messages to send again, straight to the queue. */
  readonly messages: readonly Outgoing[];
  /** Nodes that still wait for something that has ended. */
  readonly advances: readonly {
    readonly nodeId: string;
    readonly ordinals: ReadonlySet<number>;
    readonly failed: boolean;
  }[];
  /** Sinks that have ended and that the run still waits for. */
  readonly advanceRun: { readonly ordinals: ReadonlySet<number>; readonly failed: boolean } | undefined;
  /** The run waits for nothing and has not ended. */
  readonly endRun: boolean;
  /** When to look again. */
  readonly nextScanAtMs: number;
};

export function owed(run: RunItem, seen: readonly SeenNode[], nowMs: number, limits: Limits): Owed {
  const activeScanAtMs = nowMs + limits.scanEveryMs;
  const messages = seen.flatMap(({ node }) => messageOwed(node, run.scanned_at_ms, nowMs, activeScanAtMs, limits));
  const advances = advancesOwed(seen);
  const sinks = seen.filter(({ dependents }) => dependents.length === 0).map(({ node }) => node);
  const endedSinks = sinks.filter((node) => isTerminal(node.status) && run.waiting_on?.has(node.ordinal) === true);
  const advanceRun = endedSinks.length === 0 ? undefined : endedOf(endedSinks);
  const endRun = isLiving(run.status) && run.waiting_on === undefined;
  const isActive =
    messages.length > 0 ||
    advances.length > 0 ||
    advanceRun !== undefined ||
    endRun ||
    seen.some(({ node }) => node.status === "READY" || node.status === "RUNNING");
  return {
    messages,
    advances,
    advanceRun,
    endRun,
    nextScanAtMs: isActive ? activeScanAtMs : nowMs + limits.scanIdleMs,
  };
}

const endedOf = (nodes: readonly NodeItem[]) => ({
  ordinals: new Set(nodes.map((node) => node.ordinal)),
  failed: nodes.some((node) => node.status !== "SUCCEEDED"),
});

/** By the parents' states, never by an empty set: the set may be empty because the relay died before it made the node READY. */
function advancesOwed(seen: readonly SeenNode[]): Owed["advances"] {
  const parents = new Map<string, NodeItem[]>();
  for (const { node, dependents } of seen) {
    for (const [dependent] of dependents) parents.set(dependent, [...(parents.get(dependent) ?? []), node]);
  }
  return seen.flatMap(({ node }) => {
    if (node.status !== "PENDING") return [];
    const mine = parents.get(node.node_id) ?? [];
    const ended = mine.filter((parent) => isTerminal(parent.status));
    const isOwed =
      ended.length === mine.length || ended.some((parent) => node.waiting_on?.has(parent.ordinal) === true);
    return isOwed ? [{ nodeId: node.node_id, ...endedOf(ended) }] : [];
  });
}

/**
 * The scanner wakes and the claim decides: a node is woken when it has been due for long enough, in growing steps.
 * One that falls due before the next look is sent now with its delay.
 */
function messageOwed(
  node: NodeItem,
  lastScanMs: number,
  nowMs: number,
  nextScanAtMs: number,
  limits: Limits,
): readonly Outgoing[] {
  const dueAtMs = dueAt(node, limits);
  if (dueAtMs === undefined) return [];
  const dispatch = { run_id: node.run_id, node_id: node.node_id, dispatch_id: node.dispatch_id };
  const { pool } = node;
  if (node.status === "READY" && dueAtMs > nowMs) {
    const delayMs = dueAtMs - nowMs;
    return dueAtMs < nextScanAtMs && delayMs <= fixed.messageDelayMs ? [{ dispatch, delayMs, pool }] : [];
  }
  return stepPassed(dueAtMs, lastScanMs, nowMs, limits.strandedMs) ? [{ dispatch, delayMs: 0, pool }] : [];
}

/** When a worker may do something with the node; undefined where it is no worker's turn. */
function dueAt(node: NodeItem, limits: Limits): number | undefined {
  switch (node.status) {
    case "READY":
      return Math.min(Math.max(node.ready_at_ms ?? 0, node.not_before_ms ?? 0), node.deadline_at_ms);
    case "RUNNING":
      return (node.lease_expires_at_ms ?? 0) + limits.skewMs;
    case "PENDING":
    case "WAITING":
    case "IN_DOUBT":
    case "SUCCEEDED":
    case "FAILED":
    case "CANCELLED":
    case "EXPIRED":
    case "SKIPPED":
      return undefined;
    default:
      return node.status satisfies never;
  }
}

const hourMs = 3_600_000;

/**
 * Whether since the last look the age has passed `strandedMs` x 2^k, or from an hour on a full hour: so a deep backlog
 * is not multiplied, and nothing is held back for ever. No state is needed for it.
 */
export function stepPassed(dueAtMs: number, lastScanMs: number, nowMs: number, strandedMs: number): boolean {
  const last = lastScanMs - dueAtMs;
  const age = nowMs - dueAtMs;
  for (let step = strandedMs; step < hourMs && step <= age; step *= 2) if (step > last) return true;
  return age >= hourMs && Math.floor(age / hourMs) > Math.max(0, Math.floor(last / hourMs));
}
