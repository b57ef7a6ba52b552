/** A person or a program says what became of a node in doubt. */
import { dependentsOf } from "./beside.ts";
import type { CommandWorld } from "./command.ts";
import { checkedOutput } from "./execute.ts";
import { canonicalJson } from "./json.ts";
import { hashOf, nodeKey } from "./keys.ts";
import { type NodeItem, nodeItemSchema, type Refusal, type ResolveNode, readItem } from "./model.ts";
import { type Blob, recordResolution } from "./record.ts";
import { settle } from "./settle.ts";
import { type Ending, endNode, inDoubtAt, resolveNotDone, wakeRun } from "./transitions.ts";
import type { Item, Write } from "./write.ts";

export type Resolved =
  | { readonly is: "resolved"; readonly changed: boolean; readonly status: string }
  | { readonly is: "refused"; readonly refusal: Refusal };

const budgetMs = 20_000;

/** Equal for equal resolutions, whatever their command's id and their fields' order. */
export function resolveHash({ command_id: _, ...content }: ResolveNode): string {
  return hashOf([canonicalJson(JSON.parse(JSON.stringify(content)))]);
}

/** @throws when the table could not answer now: the command must come again. */
export async function resolveNode(world: CommandWorld, command: ResolveNode, commandId: string): Promise<Resolved> {
  const item = await world.table.get(nodeKey(command.run_id, command.node_id));
  if (item === undefined) {
    return refusedBecause(
      "no_such_node",
      command,
      "node_id",
      "must name a node of a run that was started",
      command.node_id,
    );
  }
  const node = readItem(nodeItemSchema, item);
  const judged = judge(node, command, commandId);
  if (judged !== undefined) return judged;
  const built = await writesOf(world, node, command, commandId);
  if ("is" in built) return built;
  const { blob } = built;
  if (blob !== undefined) await settle(world, budgetMs, () => world.blobs.put(blob.key, blob.text));
  const wake = wakeRun(node, world.clock.nowMs());
  let answer = await settle(world, budgetMs, () => world.table.transact([...built.writes, wake]));
  // Nobody looks at a run that is gone, and its node is resolved all the same.
  if (answer.is === "refused" && answer.refusals.slice(0, -1).every((refusal) => refusal === null))
    answer = await settle(world, budgetMs, () => world.table.transact(built.writes));
  if (answer.is === "applied") return { is: "resolved", changed: true, status: built.status };
  const old = answer.refusals[0]?.old;
  if (old === undefined)
    throw new Error(`resolution of node ${JSON.stringify(command.node_id)} was refused without a reason`);
  const found = readItem(nodeItemSchema, old);
  return judge(found, command, commandId) ?? movedOn(found, command);
}

/** @returns what is to be answered without a write, or undefined where the node is in the doubt that is meant. */
function judge(node: NodeItem, command: ResolveNode, commandId: string): Resolved | undefined {
  // One's own mark: the same command came again, or its answer was lost.
  if (node.resolved_by === commandId) return { is: "resolved", changed: true, status: node.status };
  return node.status === "IN_DOUBT" && node.epoch === command.epoch ? undefined : movedOn(node, command);
}

const movedOn = (node: NodeItem, command: ResolveNode): Resolved =>
  refusedBecause(
    "not_in_doubt",
    command,
    "epoch",
    "must be the epoch at which the node is in doubt now",
    `epoch ${command.epoch}, and the node is ${node.status} at epoch ${node.epoch}`,
  );

const refusedBecause = (code: string, command: ResolveNode, field: string, rule: string, value: string): Resolved => ({
  is: "refused",
  refusal: { code, node: command.node_id, field, rule, value },
});

type Built = { readonly blob: Blob | undefined; readonly writes: readonly Write[]; readonly status: string };

async function writesOf(
  world: CommandWorld,
  node: NodeItem,
  command: ResolveNode,
  commandId: string,
): Promise<Built | Resolved> {
  const nowMs = world.clock.nowMs();
  const { resolution, by, why } = command;
  const said: Item = {
    resolution: JSON.stringify({ resolution, by, why, atMs: nowMs }),
    resolved_by: commandId,
    // Its time to live was taken away with the doubt.
    expires_at: Math.ceil((Math.max(nowMs, node.deadline_at_ms) + world.limits.retentionMs) / 1_000),
  };
  switch (command.resolution) {
    case "not_done":
      return { blob: undefined, writes: resolveNotDone(node, said, nowMs), status: "READY" };
    case "failed": {
      const error = { name: "ResolvedAsFailed", code: "resolved", message: `${by}: ${why}` };
      return endBuilt(world, node, said, { status: "FAILED", effect: command.effect, output: undefined, error });
    }
    case "succeeded": {
      const tool = world.tools.get(node.tool);
      if (tool === undefined)
        return refusedBecause("unknown_tool", command, "output", "needs the node's tool to check it", node.tool);
      const checked = await checkedOutput(tool, command.output);
      if (checked.is === "succeeded") {
        return endBuilt(world, node, said, {
          status: "SUCCEEDED",
          effect: "done",
          output: checked.output,
          error: undefined,
        });
      }
      const rule = checked.is === "bad_output" ? checked.error.message : "must fit the tool's schema";
      return refusedBecause("bad_output", command, "output", rule, JSON.stringify(command.output));
    }
    default:
      return command satisfies never;
  }
}

type End = Pick<Ending, "status" | "effect"> & {
  readonly output: string | undefined;
  readonly error: Parameters<typeof recordResolution>[2];
};

async function endBuilt(world: CommandWorld, node: NodeItem, said: Item, end: End): Promise<Built> {
  const { record, blob } = recordResolution({ ...node, ...said }, end.output, end.error);
  const writes = endNode({
    node,
    guard: inDoubtAt(node.epoch),
    ending: {
      status: end.status,
      effect: end.effect,
      certain: true,
      record: { set: { ...record.set, ...said }, remove: record.remove },
    },
    dependents: await dependentsOf(world.table, node),
    nowMs: world.clock.nowMs(),
  });
  return { blob, writes, status: end.status };
}
