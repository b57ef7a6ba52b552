/** What happens in a dev session, and how it is told: in lines for a person, as JSON for a program. */
import type { NodeView, RunView } from "../../client/index.ts";
import type { ErrorRecord } from "../../shared/errors.ts";
import type { EffectClass, Reconciled } from "../../shared/tool.ts";
import { type Line, paintFor } from "../line.ts";
import { nodePieces, resolveHint, runPieces } from "../picture.ts";
import { type CliWorld, printJson, printLine } from "../world.ts";

export type DevEvent =
  | {
      readonly event: "tools";
      readonly file: string;
      readonly tools: readonly { readonly name: string; readonly effect: EffectClass; readonly pool?: string }[];
    }
  /** The run has begun. */
  | { readonly event: "run"; readonly run: RunView }
  | { readonly event: "node"; readonly node: NodeView }
  | { readonly event: "end"; readonly run: RunView }
  /** JSON text of each output that there is. */
  | { readonly event: "outputs"; readonly outputs: readonly { readonly nodeId: string; readonly text: string }[] }
  /** For a person's word on its nodes in doubt, and for nothing else. */
  | { readonly event: "waits"; readonly run: RunView }
  | {
      readonly event: "log";
      readonly nodeId: string;
      readonly level: string;
      readonly message: string;
      readonly fields: unknown;
    }
  /** `at`: places in the user's own source. */
  | { readonly event: "threw"; readonly nodeId: string; readonly error: ErrorRecord; readonly at: readonly string[] }
  | {
      readonly event: "killed";
      readonly nodeId: string;
      readonly attempt: number;
      readonly operationId: string;
      readonly next: string;
    }
  | {
      readonly event: "taken_over";
      readonly nodeId: string;
      readonly attempt: number;
      readonly operationId: string;
      readonly sameOperation: boolean;
    }
  | {
      readonly event: "looked_up";
      readonly nodeId: string;
      readonly operationId: string;
      readonly sameOperation: boolean;
      readonly answer: Reconciled<unknown>["is"];
    }
  | { readonly event: "abandoned"; readonly runId: string }
  | { readonly event: "changed"; readonly files: readonly string[] }
  /** What the session waits for. */
  | { readonly event: "waiting"; readonly forWhat: string }
  /** Something is wrong in the user's files. */
  | { readonly event: "error"; readonly message: string };

type Teller = Pick<CliWorld, "stdout" | "stderr" | "environment">;
export type Say = (event: DevEvent) => void;

export function teller({ stdout, stderr, environment }: Teller, json: boolean): Say {
  if (json) return (event) => printJson(stdout, asJson(event));
  return (event) => {
    const output = event.event === "error" ? stderr : stdout;
    const paint = paintFor(output, environment);
    for (const line of linesOf(event)) printLine(output, line, paint);
  };
}

/** As `leasehold watch --json` has it where both tell the same. */
function asJson(event: DevEvent): unknown {
  if (event.event === "run") return { event: event.event, runId: event.run.runId, status: event.run.status };
  if (event.event === "node") return { event: event.event, ...event.node };
  if (event.event !== "outputs") return event;
  return {
    event: event.event,
    outputs: event.outputs.map(({ nodeId, text }) => ({ nodeId, output: JSON.parse(text) })),
  };
}

function linesOf(event: DevEvent): readonly Line[] {
  switch (event.event) {
    case "tools": {
      const named = event.tools.map(
        ({ name, effect, pool }) => `  ${name} (${effect}${pool === undefined ? "" : `, pool ${pool}`})`,
      );
      return [`${event.file}: ${counted(event.tools.length, "tool")}`, ...named];
    }
    case "run":
    case "end":
      return [runPieces(event.run)];
    case "node":
      return [nodePieces(event.node)];
    case "outputs":
      return event.outputs.length === 0
        ? []
        : ["outputs", ...event.outputs.map(({ nodeId, text }) => `  ${nodeId}: ${shortened(text)}`)];
    case "waits":
      return [runPieces(event.run), ...event.run.nodes.flatMap((node) => waitLines(event.run.runId, node))];
    case "log": {
      const fields = isEmpty(event.fields) ? "" : ` ${JSON.stringify(event.fields)}`;
      return [`  ${event.nodeId} | ${event.level === "info" ? "" : `${event.level}: `}${event.message}${fields}`];
    }
    case "threw":
      return [`  ${event.nodeId} | threw ${errorText(event.error)}`, ...event.at.map((place) => `      ${place}`)];
    case "killed":
      return [
        [
          `  ${event.nodeId}: `,
          { text: "KILLED", style: "bold" },
          ` after the tool acted (attempt ${event.attempt}, operation id ${short(event.operationId)}); ${event.next}`,
        ],
      ];
    case "taken_over":
      return [`  ${event.nodeId}: taken over, attempt ${event.attempt}, ${operationText(event)}`];
    case "looked_up":
      return [`  ${event.nodeId}: looked up, ${operationText(event)}: ${event.answer}`];
    case "abandoned":
      return [`run ${event.runId}: abandoned, since its files changed`];
    case "changed":
      return ["", `${event.files.join(", ")} changed`];
    case "waiting":
      return [event.forWhat];
    case "error":
      return event.message.split("\n");
    default:
      return event satisfies never;
  }
}

const waitLines = (runId: string, { nodeId, status }: NodeView): readonly string[] =>
  status !== "IN_DOUBT"
    ? []
    : [
        `run waits: only someone who knows can say whether ${nodeId} had its effect. In a deployment:`,
        `  ${resolveHint(runId, nodeId)}`,
      ];

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? "" : "s"}`;

const operationText = (event: { readonly operationId: string; readonly sameOperation: boolean }): string =>
  `${event.sameOperation ? "same" : "ANOTHER"} operation id ${short(event.operationId)}`;

const shownIdCharacters = 12;
const short = (id: string): string => (id.length <= shownIdCharacters ? id : `${id.slice(0, shownIdCharacters)}…`);

const shownOutputCharacters = 1_000;
const shortened = (text: string): string =>
  text.length <= shownOutputCharacters
    ? text
    : `${text.slice(0, shownOutputCharacters)}… (${text.length} characters; --json prints all)`;

const isEmpty = (fields: unknown): boolean =>
  fields === undefined || (typeof fields === "object" && fields !== null && Object.keys(fields).length === 0);

const errorText = ({ name, message, cause }: ErrorRecord): string =>
  `${name}: ${message}${cause === undefined ? "" : `, caused by ${errorText(cause)}`}`;
