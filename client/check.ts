/** What can be judged before a command is sent: its form and its size. What it means, only the deployment knows. */
import { jsonFault } from "../shared/json.ts";
import { fixed } from "../shared/limits.ts";
import { type Command, commandSchema, type Refusal } from "../shared/model.ts";
import { issuePath, valueAt } from "../shared/schema-issue.ts";
import { clientError } from "./errors.ts";

/** Why the deployment would refuse the command for its form, under the codes that it uses; undefined where it would not. */
export function formFault(command: unknown): Refusal | undefined {
  const lost = inputFault(command);
  if (lost !== undefined) return lost;
  const parsed = commandSchema.safeParse(command);
  if (parsed.success) return undefined;
  const issue = parsed.error.issues[0];
  if (issue === undefined) return { code: "bad_field", rule: "must be a command" };
  const path = issuePath(issue);
  const index = path[0] === "nodes" && typeof path[1] === "number" ? path[1] : undefined;
  const field = (index === undefined ? path : path.slice(2)).join(".");
  return {
    code: "bad_field",
    ...(index === undefined ? {} : { node: nameOf(valueAt(command, ["nodes", index]), index) }),
    ...(field === "" ? {} : { field }),
    rule: issue.message,
    value: shown(valueAt(command, path)),
  };
}

/** @throws ClientError `message_too_large` for a body that SQS would not take. The body is ASCII: a character is a byte. */
export function checkSize(command: Pick<Command, "type" | "run_id">, body: string): void {
  if (body.length <= fixed.messageBytes) return;
  throw clientError(
    "message_too_large",
    `${command.type} of run ${JSON.stringify(command.run_id)} must be at most ${fixed.messageBytes} bytes as one SQS message, got ${body.length}; keep large values in a store and let the input name them`,
  );
}

/** Before the schema, which walks a value recursively, and would let pass what JSON then loses. */
function inputFault(command: unknown): Refusal | undefined {
  if (valueAt(command, ["type"]) === "resolve_node") return outputFault(command);
  const nodes = valueAt(command, ["nodes"]);
  if (!Array.isArray(nodes)) return undefined;
  for (const [index, node] of nodes.entries()) {
    const input = valueAt(node, ["input"]);
    const fault = input === undefined ? undefined : jsonFault(input);
    if (fault === undefined) continue;
    return {
      code: "bad_value",
      node: nameOf(node, index),
      field: `input${fault.path}`,
      rule: "must be JSON that comes back as it was sent",
      value: fault.kind,
    };
  }
  return undefined;
}

function outputFault(command: unknown): Refusal | undefined {
  const fault = valueAt(command, ["resolution"]) === "succeeded" ? jsonFault(valueAt(command, ["output"])) : undefined;
  if (fault === undefined) return undefined;
  const nodeId = valueAt(command, ["node_id"]);
  return {
    code: "bad_value",
    ...(typeof nodeId === "string" ? { node: nodeId } : {}),
    field: `output${fault.path}`,
    rule: "must be JSON that comes back as it was sent",
    value: fault.kind,
  };
}

function nameOf(node: unknown, index: number): string {
  const id = valueAt(node, ["node_id"]);
  return typeof id === "string" ? id : `number ${index + 1}`;
}

const SHOWN_CHARACTERS = 120;

/** A value as an error names it: its JSON, cut short, or its kind where it has none. */
export function shown(value: unknown): string {
  const text = value === undefined ? "nothing" : typeof value === "bigint" ? `${value}n` : jsonOrKind(value);
  return text.length <= SHOWN_CHARACTERS ? text : `${text.slice(0, SHOWN_CHARACTERS)}…`;
}

function jsonOrKind(value: unknown): string {
  // JSON has no word for some of them.
  if (typeof value === "number") return String(value);
  try {
    return JSON.stringify(value) ?? typeof value;
  } catch {
    return "what JSON cannot show";
  }
}
