/** What has changed between two looks at the nodes, in words. Pure. */
import { isTerminal, type NodeItem } from "../../shared/model.ts";

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
    const ended = isTerminal(node.status) && node.status !== earlier?.status ? [endLine(node)] : [];
    return [...claimed, ...ended];
  });
}

function claimLine(node: NodeItem, atKill: NodeItem | undefined): string {
  const { node_id: id, epoch } = node;
  if (atKill?.node_id !== id || epoch === atKill.epoch) return `${id}: claimed, fencing token ${epoch}`;
  // One's own message and not a copy that something else has sent: the queue has redelivered it.
  const redelivered = node.message_id === atKill.message_id ? "REDELIVERED by SQS, the same message; " : "";
  return `${id}: ${redelivered}TAKEN OVER, fencing token ${epoch}`;
}

const endLine = ({ node_id: id, status, epoch }: NodeItem): string =>
  status === "SUCCEEDED" ? `${id}: committed with fencing token ${epoch}, SUCCEEDED` : `${id}: ${status}`;
