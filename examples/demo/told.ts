/** What has changed between two looks at the nodes, in words. Pure. */
import { isTerminal, type NodeItem } from "../../shared/model.ts";
import type { Lookup } from "../../test/support/provider.ts";
import { nameOf } from "./books.ts";

/** @param atKill node buy as it stood when its worker was killed, missing before that. */
export function changesTold(
  before: readonly NodeItem[],
  now: readonly NodeItem[],
  atKill: NodeItem | undefined,
): readonly string[] {
  return now.flatMap((node) => {
    const earlier = before.find((other) => other.node_id === node.node_id);
    // A look may miss a claim that was committed at once; the commit's line then tells its token.
    const claimed = node.status === "RUNNING" && node.epoch !== earlier?.epoch ? [claimLine(node, atKill)] : [];
    const doubted = node.status === "IN_DOUBT" && earlier?.status !== "IN_DOUBT" ? [doubtLine(node)] : [];
    const ended = isTerminal(node.status) && node.status !== earlier?.status ? [endLine(node)] : [];
    return [...claimed, ...doubted, ...ended];
  });
}

function claimLine(node: NodeItem, atKill: NodeItem | undefined): string {
  const { node_id: id, epoch } = node;
  if (atKill?.node_id !== id || epoch === atKill.epoch) return `${id}: claimed, fencing token ${epoch}`;
  // One's own message and not a copy that something else has sent: the queue has redelivered it.
  const redelivered = node.message_id === atKill.message_id ? "REDELIVERED by SQS, the same message; " : "";
  const why = node.reconciles_used === undefined ? "TAKEN OVER" : "TAKEN OVER to be looked up, no attempt used";
  return `${id}: ${redelivered}${why}, fencing token ${epoch}`;
}

const doubtLine = ({ node_id: id }: NodeItem): string =>
  `${id}: IN DOUBT: nothing calls the provider again, and the run waits for someone who knows`;

function endLine({ node_id: id, status, epoch, resolution }: NodeItem): string {
  if (status !== "SUCCEEDED") return `${id}: ${status}`;
  return resolution === undefined
    ? `${id}: committed with fencing token ${epoch}, SUCCEEDED`
    : `${id}: SUCCEEDED, as it was resolved`;
}

export const lookUpLine = ({ reference, found }: Lookup): string =>
  `provider ASKED for operation ${reference.slice(0, 8)}…: ${found === undefined ? "no such order" : `there is ${nameOf(found)}`}`;
