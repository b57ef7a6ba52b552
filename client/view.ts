/** A run as a program sees it, made from the items that are stored of it. Pure. */
import * as z from "zod";
import {
  type besideItemSchema,
  dependentSchema,
  type EffectKnown,
  isLiving,
  type NodeItem,
  type NodeStatus,
  type RunItem,
  type RunStatus,
} from "../shared/model.ts";

export type NodeView = {
  readonly nodeId: string;
  readonly tool: string;
  readonly status: NodeStatus;
  /** Attempts that were counted. */
  readonly attempts: number;
  readonly maxAttempts: number;
  /** The fencing token of the latest claim; 0 before the first. */
  readonly epoch: number;
  readonly dependsOn: readonly string[];
  /** What is known of the tool's effect once the node has ended. */
  readonly effect?: EffectKnown;
  /** The latest attempt's error. */
  readonly error?: unknown;
  /** Missing where there is none, or where `outputBeside` says that it is too large to come along. */
  readonly output?: unknown;
  readonly outputBeside?: true;
  readonly endedAtMs?: number;
};

export type RunView = {
  readonly runId: string;
  readonly status: RunStatus;
  /** Whether the status is final. */
  readonly ended: boolean;
  readonly createdAtMs: number;
  readonly deadlineAtMs: number;
  readonly endedAtMs?: number;
  readonly cancelReason?: string;
  /** In the order given at the start. */
  readonly nodes: readonly NodeView[];
};

/** What of a run's partition a view is made from. */
export type StoredRun = {
  readonly run: RunItem;
  readonly nodes: readonly NodeItem[];
  /** Lists of dependents that stand beside their node, by the node's id. */
  readonly dependentsBeside: ReadonlyMap<string, z.infer<typeof besideItemSchema>>;
};

export function runView({ run, nodes, dependentsBeside }: StoredRun): RunView {
  // Items expire one by one over days, so a fresh run can stand among what an old one of the same id has left.
  const own = nodes.filter((node) => node.generation === run.generation).sort((a, b) => a.ordinal - b.ordinal);
  const parents = parentsOf(run, own, dependentsBeside);
  return {
    runId: run.run_id,
    status: run.status,
    ended: !isLiving(run.status),
    createdAtMs: run.created_at_ms,
    deadlineAtMs: run.deadline_at_ms,
    ...(run.ended_at_ms === undefined ? {} : { endedAtMs: run.ended_at_ms }),
    ...(run.cancel_reason === undefined ? {} : { cancelReason: run.cancel_reason }),
    nodes: own.map((node) => nodeView(node, parents.get(node.node_id) ?? [])),
  };
}

function nodeView(node: NodeItem, dependsOn: readonly string[]): NodeView {
  return {
    nodeId: node.node_id,
    tool: node.tool,
    status: node.status,
    attempts: node.attempts_used,
    maxAttempts: node.max_attempts,
    epoch: node.epoch,
    dependsOn,
    ...(node.effect === undefined ? {} : { effect: node.effect }),
    ...(node.error === undefined ? {} : { error: parsed(node.error) }),
    ...(node.output === undefined ? {} : { output: parsed(node.output) }),
    ...(node.output_epoch === undefined ? {} : { outputBeside: true as const }),
    ...(node.ended_at_ms === undefined ? {} : { endedAtMs: node.ended_at_ms }),
  };
}

const dependentsSchema = z.array(dependentSchema);

/** Only a node's dependents are stored, so what a node depends on is read from the others. */
function parentsOf(
  run: RunItem,
  nodes: readonly NodeItem[],
  beside: StoredRun["dependentsBeside"],
): ReadonlyMap<string, readonly string[]> {
  const parents = new Map<string, string[]>();
  for (const node of nodes) {
    const apart = beside.get(node.node_id);
    const text = node.dependents ?? (apart?.generation === run.generation ? apart.value : undefined);
    if (text === undefined) continue;
    for (const [dependent] of dependentsSchema.parse(JSON.parse(text))) {
      const known = parents.get(dependent);
      if (known === undefined) parents.set(dependent, [node.node_id]);
      else known.push(node.node_id);
    }
  }
  return parents;
}

/** An error's text is bounded when it is stored; one that was cut is shown as it is. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
