/** What the client throws. Recognised by `code` or `name`, never by class identity, which two copies of a package would break. */
import type { NodeStatus, Refusal } from "../shared/model.ts";

export type ClientErrorCode =
  /** Table and queue were neither given nor found. */
  | "not_configured"
  /** The command is larger than one SQS message; nothing was sent. */
  | "message_too_large"
  /** An option is out of its range; nothing was sent. */
  | "invalid_option"
  /** Time is up. What was sent stays sent. */
  | "timed_out"
  /** The node that was to be resolved is not in doubt now; nothing was sent. */
  | "not_in_doubt"
  /** There is no such run, or it has expired. */
  | "no_such_run"
  /** The run has no such node. */
  | "no_such_node"
  /** The node has no output, or none yet: `nodeStatus` says why. */
  | "no_output"
  /** The answer under this command's id belongs to a command for another run or of another type. */
  | "command_id_reused";

export type ClientError = Error & {
  readonly code: ClientErrorCode;
  /** What an `invalid_option` speaks of, the rule it breaks, and what came. */
  readonly field?: string;
  readonly rule?: string;
  readonly value?: string;
  /** With `no_output`. */
  readonly nodeStatus?: NodeStatus;
};

export const clientError = (code: ClientErrorCode, message: string, cause?: unknown): ClientError =>
  Object.assign(new Error(message, cause === undefined ? undefined : { cause }), { name: "LeaseholdError", code });

export const noSuchRun = (runId: string): ClientError =>
  clientError("no_such_run", `run must be one that was accepted and has not expired, got ${JSON.stringify(runId)}`);

const refusedNames = {
  start_run: "StartRefusedError",
  cancel_run: "CancelRefusedError",
  resolve_node: "ResolveRefusedError",
} as const;

/** A command that will never be done: `code` is the refusal's own, with the node, field, rule and value it speaks of. */
export type RefusedError = Error &
  Refusal & {
    readonly name: (typeof refusedNames)[keyof typeof refusedNames];
    readonly runId: string;
    readonly commandId: string;
  };

/** What `accepted()` of a start throws, and `startRun` itself for a form that no deployment would accept. */
export type StartRefusedError = RefusedError & { readonly name: typeof refusedNames.start_run };

type Refused = {
  readonly type: keyof typeof refusedNames;
  readonly runId: string;
  readonly commandId: string;
  readonly refusal: Refusal;
};

export function refusedError({ type, runId, commandId, refusal }: Refused): RefusedError {
  const { code, node, field, rule, value } = refusal;
  const where = [node === undefined ? "" : `node ${node}`, field ?? ""].filter((part) => part !== "").join(", ");
  const message = `${type} was refused (${code}): ${where === "" ? "" : `${where}: `}${rule}${value === undefined ? "" : `, got ${value}`}`;
  return Object.assign(new Error(message), {
    name: refusedNames[type],
    code,
    rule,
    ...(node === undefined ? {} : { node }),
    ...(field === undefined ? {} : { field }),
    ...(value === undefined ? {} : { value }),
    runId,
    commandId,
  });
}

export const isRefused = (error: unknown): error is RefusedError =>
  error instanceof Error && Object.values<string>(refusedNames).includes(error.name) && "rule" in error;

export const isStartRefused = (error: unknown): error is StartRefusedError =>
  isRefused(error) && error.name === refusedNames.start_run;

export const isClientError = (error: unknown): error is ClientError =>
  error instanceof Error && error.name === "LeaseholdError" && "code" in error;
