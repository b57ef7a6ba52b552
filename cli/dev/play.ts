/** One run, followed to its end, or to where only a person's word would bring it on. */
import type { NodeView, RunView } from "../../client/index.ts";
import { nodesOf, readRunItem } from "../../client/read-run.ts";
import { systemClock } from "../../shared/adapters/clock.ts";
import { outputTextOf } from "../../shared/beside.ts";
import { isTerminal } from "../../shared/model.ts";
import type { GraphFile } from "../graph-file.ts";
import { nodeLine } from "../picture.ts";
import type { Deployment } from "./deployment.ts";
import type { Say } from "./event.ts";

/**
 * Goes on for ever when the deployment is stopped meanwhile.
 * @returns the run as it ended, or as it waits.
 * @throws RefusedError where the graph breaks a rule.
 */
export async function play(made: Deployment, graph: GraphFile, runId: string, say: Say): Promise<RunView> {
  const { deadlineMs, nodes } = graph;
  const handle = await made.client.startRun({ runId, nodes, ...(deadlineMs === undefined ? {} : { deadlineMs }) });
  await handle.accepted();
  const pauseMs = nodes.length <= lookedAtClosely ? 0 : nodes.length;
  let before: RunView | undefined;
  for (;;) {
    // Before the look: a write that comes after it wakes the next one.
    const next = made.changed();
    const now = await made.client.getRun(runId);
    if (now !== undefined) {
      showNodes(now, before, say);
      if (now.ended || isAtRest(now)) {
        await showEnd(made, now, say);
        return now;
      }
      before = now;
    }
    await next;
    await systemClock.sleep(pauseMs);
  }
}

/** Each look reads all nodes: in a large graph most time would go into looking, so short-lived states are passed over there. */
const lookedAtClosely = 20;

function showNodes(now: RunView, before: RunView | undefined, say: Say): void {
  if (before === undefined) say({ event: "run", run: now });
  const old = new Map(before?.nodes.map((node) => [node.nodeId, nodeLine(node)]));
  for (const node of now.nodes) {
    // That a node waits for its turn is no news; that it waits for another try is.
    const isNews = node.status !== "PENDING" && !(node.status === "READY" && node.attempts === 0);
    if (isNews && old.get(node.nodeId) !== nodeLine(node)) say({ event: "node", node });
  }
}

async function showEnd(made: Deployment, run: RunView, say: Say): Promise<void> {
  say({ event: "outputs", outputs: await outputsOf(made, run.runId) });
  if (run.ended) say({ event: "end", run });
  else say({ event: "waits", run });
}

async function outputsOf({ stored }: Deployment, runId: string) {
  const run = await readRunItem(stored.table, runId, 0);
  const nodes = run === undefined ? [] : await nodesOf(stored.table, run);
  const read = nodes.map(async (node) => ({ nodeId: node.node_id, text: await outputTextOf(stored, node) }));
  return (await Promise.all(read)).flatMap(({ nodeId, text }) => (text === undefined ? [] : [{ nodeId, text }]));
}

/** Only nodes in doubt, and those that wait for them, are left. */
function isAtRest(run: RunView): boolean {
  const status = new Map(run.nodes.map((node) => [node.nodeId, node.status]));
  const isStill = (node: NodeView): boolean => {
    if (isTerminal(node.status) || node.status === "IN_DOUBT") return true;
    // One whose parents have all ended is still to be advanced.
    return node.status === "PENDING" && node.dependsOn.some((id) => !isTerminal(status.get(id) ?? "SUCCEEDED"));
  };
  return run.nodes.some((node) => node.status === "IN_DOUBT") && run.nodes.every(isStill);
}
