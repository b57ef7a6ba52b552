/** How a run looks in lines of text. Pure. */
import type { DoubtView, NodeView, ResolutionView, RunView } from "../client/index.ts";
import { isTerminal, type NodeStatus, type RunStatus } from "../shared/model.ts";
import { aligned, harmless, type Line, type Piece, type Style, steering, textOf } from "./line.ts";

/** What needs nobody's eye stays plain. */
const statusStyles: { readonly [Status in NodeStatus | RunStatus]?: Style } = {
  PENDING: "dim",
  RUNNING: "cyan",
  CANCELLING: "yellow",
  IN_DOUBT: "magenta",
  SUCCEEDED: "green",
  FAILED: "red",
  EXPIRED: "red",
  CANCELLED: "yellow",
  SKIPPED: "dim",
};

export const statusPiece = (status: NodeStatus | RunStatus): Piece => ({ text: status, style: statusStyles[status] });

/** A node's name where all that are shown are in doubt. */
export const inDoubt = (nodeId: string): Piece => ({ text: nodeId, style: statusStyles.IN_DOUBT });

export function runPieces(run: RunView): readonly (string | Piece)[] {
  const ended = run.nodes.filter((node) => isTerminal(node.status)).length;
  const reason = run.cancelReason === undefined ? "" : ` (${run.cancelReason})`;
  const time = run.endedAtMs === undefined ? "" : `, after ${(run.endedAtMs - run.createdAtMs) / 1_000} s`;
  return [
    `run ${run.runId}: `,
    statusPiece(run.status),
    `${reason}, ${ended} of ${run.nodes.length} nodes ended${time}`,
  ];
}

export function nodePieces(node: NodeView): readonly (string | Piece)[] {
  // A node that succeeded has had its effect, and one that was skipped has none: only the others leave a question.
  const effect = node.effect === undefined || node.status === "SUCCEEDED" ? [] : [`effect ${node.effect}`];
  const more = [...attemptsOf(node), ...effect].join(", ");
  const why = [...(node.doubt === undefined ? [] : [node.doubt.why]), ...errorOf(node)].join("; ");
  return [
    `  ${node.nodeId}: `,
    statusPiece(node.status),
    `${more === "" ? "" : ` (${more})`}${why === "" ? "" : `: ${why}`}`,
  ];
}

export const nodeLine = (node: NodeView): string => textOf(nodePieces(node));

export const attemptsOf = ({ attempts, maxAttempts }: NodeView): readonly string[] =>
  attempts === 0 ? [] : [`attempt ${attempts} of ${maxAttempts}`];

export const errorOf = (node: NodeView): readonly string[] =>
  node.status === "SUCCEEDED" || node.error === undefined ? [] : [errorText(node.error)];

/** What a run waits for, and how it goes on. */
export const doubtLines = (runId: string, nodeId: string, doubt: DoubtView): readonly string[] => [
  `run waits for ${nodeId}: ${doubtText(doubt)}`,
  `  ${resolveHint(runId, nodeId)}`,
];

export const doubtText = ({ sinceMs, why, attempt, epoch, reconciles }: DoubtView): string => {
  const asked = reconciles === 0 ? "" : `, reconcile asked ${reconciles} times`;
  return `in doubt since ${timeText(sinceMs)}, attempt ${attempt}, epoch ${epoch}${asked}: ${why}`;
};

/** To be pasted into a shell once the choice is made. */
export const resolveHint = (runId: string, nodeId: string): string => {
  const ids = `${shellWord(runId)} ${shellWord(nodeId)}`;
  const said = "(--succeeded --output JSON | --not-done | --failed) --by WHO --why TEXT";
  // Only behind -- is what begins with a dash no option.
  const looksLikeOption = [runId, nodeId].some((id) => id.startsWith("-"));
  return looksLikeOption ? `leasehold resolve ${said} -- ${ids}` : `leasehold resolve ${ids} ${said}`;
};

function shellWord(text: string): string {
  if (/^[\w./:@-]+$/.test(text)) return text;
  if (harmless(text) === text) return `'${text.replaceAll("'", "'\\''")}'`;
  // Its codes are shown in place of what would steer the terminal, so the shell must read codes.
  const codes = text
    .replace(/[\\']/g, "\\$&")
    .replace(steering, (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, "0")}`);
  return `$'${codes}'`;
}

const resolutionText = ({ resolution, by, why, atMs }: ResolutionView): string =>
  `resolved as ${resolution} by ${by} at ${timeText(atMs)}: ${why}`;

export function runTable(run: RunView): readonly Line[] {
  const rows = run.nodes.map((node) => [
    node.nodeId,
    node.tool,
    statusPiece(node.status),
    `${node.attempts}/${node.maxAttempts}`,
    String(node.epoch),
    node.effect ?? "-",
    errorOf(node).join(""),
  ]);
  const doubts = run.nodes.flatMap(({ nodeId, doubt }) =>
    doubt === undefined ? [] : doubtLines(run.runId, nodeId, doubt),
  );
  const resolutions = run.nodes.flatMap(({ nodeId, resolution }) =>
    resolution === undefined ? [] : [`${nodeId} was ${resolutionText(resolution)}`],
  );
  return [
    runPieces(run),
    `created ${timeText(run.createdAtMs)}, deadline ${timeText(run.deadlineAtMs)}${run.endedAtMs === undefined ? "" : `, ended ${timeText(run.endedAtMs)}`}`,
    "",
    ...aligned([["NODE", "TOOL", "STATUS", "ATTEMPTS", "EPOCH", "EFFECT", "ERROR"], ...rows]),
    ...(doubts.length === 0 ? [] : ["", ...doubts]),
    ...(resolutions.length === 0 ? [] : ["", ...resolutions]),
  ];
}

export const timeText = (ms: number): string => new Date(ms).toISOString();

/** Stored errors have a name and a message; anything else is shown as it is. */
function errorText(error: unknown): string {
  if (typeof error !== "object" || error === null) return String(error);
  const name: unknown = Reflect.get(error, "name");
  const message: unknown = Reflect.get(error, "message");
  if (typeof message !== "string") return JSON.stringify(error);
  return typeof name === "string" ? `${name}: ${message}` : message;
}
