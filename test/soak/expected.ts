/** Whether a node's and a run's end has a reason: what the soak ordered, a tool that fails, or attempts that are used up. */
import type { NodeItem } from "../../shared/model.ts";
import type { Ended } from "../chaos/verdict.ts";
import type { SoakRun } from "./random-run.ts";

export function unexplained(ordered: SoakRun, { run, nodes, parents: edges }: Ended): readonly string[] {
  const faults: string[] = [];
  const isCancelled = ordered.cancelAfterMs !== undefined;
  const hasDeadline = ordered.deadlineMs !== undefined;
  if (run.status === "CANCELLED" && !isCancelled) faults.push(`${run.run_id} is CANCELLED and nobody cancelled it`);
  if (run.status === "EXPIRED" && !hasDeadline) faults.push(`${run.run_id} is EXPIRED and has no deadline`);
  const byId = new Map(nodes.map((node) => [node.node_id, node]));
  const isExplained = (node: NodeItem, parents: readonly (NodeItem | undefined)[]): boolean => {
    switch (node.status) {
      case "SUCCEEDED":
        return node.tool !== "failing";
      case "FAILED":
        return node.tool === "failing" || node.attempts_used >= node.max_attempts;
      case "SKIPPED":
        return parents.some((parent) => parent?.status !== "SUCCEEDED");
      case "CANCELLED":
        return isCancelled;
      case "EXPIRED":
        return hasDeadline;
      default:
        return false;
    }
  };
  for (const [nodeId, dependsOn] of edges) {
    const node = byId.get(nodeId);
    if (
      node === undefined ||
      isExplained(
        node,
        dependsOn.map((id) => byId.get(id)),
      )
    )
      continue;
    faults.push(
      `${nodeId} (${node.tool}) of ${run.run_id} is ${node.status} after ${node.attempts_used} attempts for no reason: ${node.error ?? ""}`,
    );
  }
  if (edges.size !== ordered.nodes.length) faults.push(`${run.run_id} has not the nodes it was started with`);
  return faults;
}
