/** What a terminal shows of a run while it goes on. Pure. */
import type { NodeView, RunView } from "../client/index.ts";
import { isTerminal, type NodeStatus, nodeStatusSchema } from "../shared/model.ts";
import { durationText } from "./duration.ts";
import { fitted, type Section } from "./fit-sections.ts";
import { aligned, cutLine, harmless, type Line, type Piece } from "./line.ts";
import { attemptsOf, errorOf, inDoubt, resolveHint, runPieces, statusPiece } from "./picture.ts";
import type { SeenSince } from "./seen-since.ts";
import { cutMiddle } from "./text-width.ts";

export type Frame = {
  readonly run: RunView;
  readonly seen: SeenSince;
  readonly nowMs: number;
  /** Of the terminal. */
  readonly columns: number;
  readonly rows: number;
};

/** At most one line fewer than the terminal has, none wider than it is: only then can they be drawn over. */
export function livePicture(frame: Frame): readonly Line[] {
  const { run, columns, rows } = frame;
  const head: readonly Line[] = [
    [...runPieces(run), timesText(frame)],
    barLine(run.nodes, columns),
    countsLine(run.nodes),
  ];
  const lines = [...head, ...fitted(sectionsOf(frame), rows - 1 - head.length)];
  return lines.slice(0, Math.max(rows - 1, 1)).map((line) => cutLine(line, columns));
}

/** Where the run has ended, its line says how long it took. */
function timesText({ run, nowMs }: Frame): string {
  if (run.ended) return "";
  const deadline =
    run.deadlineAtMs > nowMs ? `deadline in ${durationText(run.deadlineAtMs - nowMs)}` : "deadline passed";
  return `, for ${durationText(nowMs - run.createdAtMs)}, ${deadline}`;
}

/** From left to right; what is in none of them is still to come. */
const bars: readonly { readonly statuses: readonly NodeStatus[]; readonly mark: string }[] = [
  { statuses: ["SUCCEEDED"], mark: "█" },
  { statuses: ["SKIPPED"], mark: "▪" },
  { statuses: ["CANCELLED"], mark: "▪" },
  { statuses: ["FAILED", "EXPIRED"], mark: "×" },
  { statuses: ["IN_DOUBT"], mark: "?" },
  { statuses: ["RUNNING"], mark: "▒" },
];

const WIDEST_BAR = 100;
const PERCENT = " 100 %".length;

function barLine(nodes: readonly NodeView[], columns: number): Line {
  const width = Math.max(Math.min(columns, WIDEST_BAR) - PERCENT, 0);
  const columnOf = (count: number): number => Math.round((width * count) / Math.max(nodes.length, 1));
  let passed = 0;
  const pieces = bars.map(({ statuses, mark }): Piece => {
    const from = columnOf(passed);
    passed += nodes.filter(({ status }) => statuses.includes(status)).length;
    return { text: mark.repeat(columnOf(passed) - from), style: statuses.map((each) => statusPiece(each).style)[0] };
  });
  const ended = nodes.filter(({ status }) => isTerminal(status)).length;
  // Only what is complete is 100 %.
  const percent = Math.floor((100 * ended) / Math.max(nodes.length, 1));
  return [...pieces, { text: "░".repeat(width - columnOf(passed)), style: "dim" }, `${percent} %`.padStart(PERCENT)];
}

function countsLine(nodes: readonly NodeView[]): Line {
  const counts = nodeStatusSchema.options.flatMap((status) => {
    const count = nodes.filter((node) => node.status === status).length;
    return count === 0 ? [] : [{ status, count }];
  });
  return counts.flatMap(({ status, count }, place) => [`${place === 0 ? "" : "  "}${count} `, statusPiece(status)]);
}

/** The most urgent first. */
function sectionsOf(frame: Frame): readonly Section[] {
  const { run } = frame;
  const of = (...statuses: readonly NodeStatus[]) => run.nodes.filter(({ status }) => statuses.includes(status));
  const doubts = of("IN_DOUBT");
  const retries = of("READY").filter(({ attempts }) => attempts > 0);
  const ended = of("SUCCEEDED", "CANCELLED", "SKIPPED").sort((one, other) => endOf(other) - endOf(one));
  const rowsOf = (nodes: readonly NodeView[], row: (node: NodeView, frame: Frame) => readonly (string | Piece)[]) =>
    aligned(nodes.map((node) => [`  ${shortened(node.nodeId, frame)}`, ...row(node, frame)])).map((line) => [line]);
  return [
    {
      title: "in doubt: the run waits until it is said what became of each",
      items: rowsOf(doubts, doubtRow).map((lines, place) => [
        ...lines,
        `    ${resolveHint(run.runId, doubts[place]?.nodeId ?? "")}`,
      ]),
    },
    { title: "failed", items: rowsOf(of("FAILED", "EXPIRED"), failedRow) },
    { title: "running", items: rowsOf(of("RUNNING"), runningRow) },
    { title: "waiting for a retry", items: rowsOf(retries, retryRow) },
    { title: "ended last", items: rowsOf(ended, endedRow) },
  ];
}

/** A long id leaves room for what is said of its node. */
const shortened = (nodeId: string, { columns }: Frame): string =>
  cutMiddle(harmless(nodeId), Math.max(Math.floor(columns / 3), 8));

const doubtRow = (node: NodeView, { nowMs }: Frame) => [
  inDoubt(node.tool),
  `attempt ${node.doubt?.attempt ?? node.attempts}, epoch ${node.epoch}`,
  node.doubt === undefined ? "" : `for ${durationText(nowMs - node.doubt.sinceMs)}`,
  node.doubt?.why ?? "",
];

const failedRow = (node: NodeView) => [statusPiece(node.status), ...attemptsOf(node), ...errorOf(node)];

function runningRow(node: NodeView, { seen, nowMs }: Frame): readonly (string | Piece)[] {
  const known = seen.get(node.nodeId);
  if (known === undefined) return [node.tool, ...attemptsOf(node)];
  const time = durationText(nowMs - known.sinceMs);
  return [node.tool, ...attemptsOf(node), known.atFirst ? `for ${time} or longer` : `for ${time}`];
}

const retryRow = (node: NodeView, { nowMs }: Frame) => [
  node.tool,
  `attempt ${node.attempts + 1} of ${node.maxAttempts} is next`,
  node.notBeforeMs === undefined || node.notBeforeMs <= nowMs ? "due" : `in ${durationText(node.notBeforeMs - nowMs)}`,
  ...errorOf(node),
];

const endedRow = (node: NodeView, { nowMs }: Frame) => [
  statusPiece(node.status),
  attemptsOf(node).join(""),
  node.endedAtMs === undefined ? "" : `${durationText(nowMs - node.endedAtMs)} ago`,
];

/** A node that was skipped may have no time of its own. */
const endOf = (node: NodeView): number => node.endedAtMs ?? 0;
