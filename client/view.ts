/** A run as a program sees it, made from the items that are stored of it. Pure. */
import * as z from "zod";
import type { besideItemSchema } from "../shared/beside.ts";
import { errorKey, outputKey } from "../shared/keys.ts";
import {
  dependentSchema,
  type EffectKnown,
  isLiving,
  type NodeItem,
  type NodeStatus,
  type RunItem,
  type RunStatus,
} from "../shared/model.ts";

/** An effect may or may not have happened, and someone must say which. */
export type DoubtView = {
  readonly sinceMs: number;
  readonly why: string;
  /** The attempt in doubt. */
  readonly attempt: number;
  /** What a resolution must name. */
  readonly epoch: number;
  /** How often `reconcile` was asked. */
  readonly reconciles: number;
};

/** How a doubt was resolved, by whom and on what grounds. */
export type ResolutionView = {
  readonly resolution: "succeeded" | "not_done" | "failed";
  readonly by: string;
  readonly why: string;
  readonly atMs: number;
};

export type NodeView = {
  readonly nodeId: string;
  readonly tool: string;
  readonly status: NodeStatus;
  /** Attempts that were counted. */
  readonly attempts: number;
  readonly maxAttempts: number;
  /** While it is READY after an attempt: when the next may begin. */
  readonly notBeforeMs?: number;
  /** The fencing token of the latest claim; 0 before the first. */
  readonly epoch: number;
  readonly dependsOn: readonly string[];
  /** What is known of the tool's effect once the node has ended. */
  readonly effect?: EffectKnown;
  /** While it is IN_DOUBT. */
  readonly doubt?: DoubtView;
  /** The latest one. */
  readonly resolution?: ResolutionView;
  /** The latest attempt's error. Missing where there is none, or where `errorBeside` says that it did not come along. */
  readonly error?: unknown;
  readonly errorBeside?: true;
  /** Missing where there is none, or where `outputBeside` says that it did not come along: too large, or one of too many. */
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
  /** The nodes in doubt: the run does not end, whatever its deadline or a cancel say, before each is resolved. */
  readonly waitsFor?: readonly { readonly nodeId: string; readonly why: string }[];
  /** In the order given at the start. */
  readonly nodes: readonly NodeView[];
};

/** What of a run's partition a view is made from. */
export type StoredRun = {
  readonly run: RunItem;
  /** Of this run's generation, in their order. */
  readonly nodes: readonly NodeItem[];
  /** Lists of dependents that stand beside their node, by the node's id. */
  readonly dependentsBeside: ReadonlyMap<string, z.infer<typeof besideItemSchema>>;
  /** Outputs and errors that stand beside their node, by sort key. */
  readonly results: ReadonlyMap<string, string>;
};

export function runView({ run, nodes, dependentsBeside, results }: StoredRun): RunView {
  const parents = parentsOf(run, nodes, dependentsBeside);
  const views = nodes.map((node) => nodeView(node, parents.get(node.node_id) ?? [], results));
  const waitsFor = views.flatMap(({ nodeId, doubt }) => (doubt === undefined ? [] : [{ nodeId, why: doubt.why }]));
  return {
    runId: run.run_id,
    status: run.status,
    ended: !isLiving(run.status),
    createdAtMs: run.created_at_ms,
    deadlineAtMs: run.deadline_at_ms,
    ...(run.ended_at_ms === undefined ? {} : { endedAtMs: run.ended_at_ms }),
    ...(run.cancel_reason === undefined ? {} : { cancelReason: run.cancel_reason }),
    ...(waitsFor.length === 0 ? {} : { waitsFor }),
    nodes: views,
  };
}

function nodeView(node: NodeItem, dependsOn: readonly string[], results: StoredRun["results"]): NodeView {
  const { run_id: runId, node_id: nodeId, error_epoch: errorEpoch, output_epoch: outputEpoch } = node;
  const error = errorEpoch === undefined ? node.error : results.get(errorKey(runId, nodeId, errorEpoch).sk);
  const output = outputEpoch === undefined ? node.output : results.get(outputKey(runId, nodeId, outputEpoch).sk);
  const doubt = doubtOf(node);
  return {
    nodeId,
    tool: node.tool,
    status: node.status,
    attempts: node.attempts_used,
    maxAttempts: node.max_attempts,
    epoch: node.epoch,
    dependsOn,
    ...(node.status === "READY" && node.attempts_used > 0 && node.not_before_ms !== undefined
      ? { notBeforeMs: node.not_before_ms }
      : {}),
    ...(node.effect === undefined ? {} : { effect: node.effect }),
    ...(doubt === undefined ? {} : { doubt }),
    ...(node.resolution === undefined ? {} : { resolution: resolutionSchema.parse(JSON.parse(node.resolution)) }),
    ...(error === undefined ? {} : { error: parsed(error) }),
    ...(errorEpoch !== undefined && error === undefined ? { errorBeside: true as const } : {}),
    ...(output === undefined ? {} : { output: parsed(output) }),
    ...(outputEpoch !== undefined && output === undefined ? { outputBeside: true as const } : {}),
    ...(node.ended_at_ms === undefined ? {} : { endedAtMs: node.ended_at_ms }),
  };
}

const storedDoubtSchema = z.object({ atMs: z.number(), why: z.string(), attempt: z.number(), reconciles: z.number() });
const resolutionSchema = z.object({
  resolution: z.enum(["succeeded", "not_done", "failed"]),
  by: z.string(),
  why: z.string(),
  atMs: z.number(),
});

/** @returns undefined for a node that is not in doubt. */
export function doubtOf(node: NodeItem): DoubtView | undefined {
  if (node.status !== "IN_DOUBT" || node.doubt === undefined) return undefined;
  const { atMs, why, attempt, reconciles } = storedDoubtSchema.parse(JSON.parse(node.doubt));
  return { sinceMs: atMs, why, attempt, epoch: node.epoch, reconciles };
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
