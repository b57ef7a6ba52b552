/** JSON Schemas (draft 2020-12) of every command and message, for programs that write or read them without this package. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod";
import { fixed } from "../shared/limits.ts";
import {
  cancelRunSchema,
  commandItemSchema,
  dispatchSchema,
  idSchema,
  nodeStatusSchema,
  refusalSchema,
  resolveNodeSchema,
  runStatusSchema,
  startRunSchema,
} from "../shared/model.ts";
import type { Accepted } from "./command.ts";

export type JsonSchema = z.core.JSONSchema.BaseSchema;

/** What `accepted()` of a command resolves with. */
const acceptedSchema = z.strictObject({
  runId: idSchema,
  commandId: idSchema,
  changed: z.boolean(),
  runStatus: z.exactOptional(runStatusSchema),
  nodeStatus: z.exactOptional(nodeStatusSchema),
}) satisfies z.ZodType<Accepted>;

const textAttribute = z.object({ DataType: z.literal("String"), StringValue: z.string() });

/** As SQS hands it out. */
const rejectedSchema = z.object({
  Body: z.string(),
  MessageAttributes: z.object({
    rejection_id: textAttribute,
    source: textAttribute,
    reason: textAttribute,
    escaped: textAttribute.optional(),
    part: textAttribute.optional(),
  }),
});

type Source = { readonly schema: z.ZodType; readonly title: string; readonly description: string };

const sources = {
  start_run: {
    schema: startRunSchema,
    title: "Command start_run",
    description: `To the commands queue. Not said here: node ids stand once, depends_on and references name nodes of the run and make no cycle, tools are deployed and take the input, and all of it fits one transaction. The same run_id with the same content is the same run.`,
  },
  cancel_run: {
    schema: cancelRunSchema,
    title: "Command cancel_run",
    description: "To the commands queue. Not said here: the run exists.",
  },
  resolve_node: {
    schema: resolveNodeSchema,
    title: "Command resolve_node",
    description:
      "To the commands queue. Not said here: the node is in doubt at this epoch, and the output fits the schema of its tool.",
  },
  dispatch: {
    schema: dispatchSchema,
    title: "Dispatch message",
    description: "In the dispatch queues, written by Leasehold alone: a hint to look at this node.",
  },
  answer: {
    schema: commandItemSchema,
    title: "Answer to a command",
    description:
      "The item of the table under pk COMMAND#command_id, sk COMMAND, as a document client shows it; refusal is JSON text of a refusal.",
  },
  refusal: {
    schema: refusalSchema,
    title: "Refusal of a command",
    description: "Why a command will never be carried out.",
  },
  accepted: {
    schema: acceptedSchema,
    title: "Accepted command",
    description: "What accepted() resolves with, and submit --json prints beside its outcome.",
  },
  rejected: {
    schema: rejectedSchema,
    title: "Rejected message",
    description:
      "In the rejected queue, as SQS hands it out with its attributes: what came and could not be taken, kept for a person.",
  },
} as const satisfies { readonly [name: string]: Source };

export type SchemaName = keyof typeof sources;

/** What a member means, wherever it stands. */
const meanings: { readonly [member: string]: string } = {
  command_id: "What the answer is filed under; a new one for each command. Missing: the SQS message's id.",
  deadline_ms: "How long the run may take, counted from its acceptance. Missing: the deployment's runDeadlineMs.",
  tool: "Name of a deployed tool.",
  input:
    'JSON. { "$output": node_id, "pointer"?: JSON Pointer } stands for a part of another node\'s output, and { "$literal": … } for just what it holds.',
  depends_on: "Nodes that must have succeeded before; those that the input refers to need not be named.",
  "cancel_run.reason": "Shown with the run.",
  reason: "Why it was rejected: JSON text of a refusal, or plain text.",
  epoch: "The epoch in doubt, as the node's view shows it: any other is refused.",
  by: "Who says so; kept with the node.",
  why: "On what grounds; kept with the node.",
  resolution:
    "succeeded: the effect happened. not_done: it did not and never will, so the node runs again with a fresh budget. failed: the node ends FAILED.",
  output: "JSON: what the tool would have returned.",
  effect: "What is known of the effect.",
  dispatch_id: "Names one making-ready of the node: d- and the epoch at which it was made READY.",
  content_hash: "Tells the answer to one content from that to another under the same id.",
  outcome: "accepted, or refused with a refusal.",
  "answer.type": "The command's type, or unreadable where its form was the fault.",
  run_status: "The run's status when the command was answered.",
  node_status: "The node's status after its resolution.",
  "answer.changed": "False where the command found its work done already. Missing: true.",
  changed: "False where the command found its work done already.",
  runId: "The run.",
  commandId: "What the answer is filed under.",
  runStatus: "The run's status when the command was answered.",
  nodeStatus: "After a resolution: the node's status then.",
  refusal: "JSON text of a refusal.",
  answered_at_ms: "Milliseconds since 1970.",
  expires_at: "Time to live: seconds since 1970.",
  code: "For programs; docs/messages.md lists them.",
  nodes: "In any order; each is a node of the run.",
  run_id: "The run.",
  node_id: "The node.",
  node: "The node that it speaks of.",
  field: "The field that it speaks of, its parts joined by dots.",
  rule: "What the field must be, for people.",
  value: "What came, cut short.",
  rejection_id: "The same for all parts of one rejection.",
  source: "Where it came from: commands, dispatch, stream.",
  escaped: 'StringValue "true" where Body is JSON text of what came, which SQS would not take as it was.',
  part: "StringValue such as 1/2 where it was longer than one message: the bodies in this order are the whole.",
  Body: "What came, unchanged.",
};

type Override = Parameters<NonNullable<NonNullable<Parameters<typeof z.toJSONSchema>[1]>["override"]>>[0];

/** What zod checks in code is invisible to its own conversion, so it is said in words, as near as the schema comes to it. */
function sayChecks({ zodSchema, jsonSchema }: Override): void {
  if (zodSchema === idSchema) {
    Object.assign(jsonSchema, { minLength: 1, maxLength: fixed.idBytes });
    jsonSchema.description = `An id: 1 to ${fixed.idBytes} bytes of well-formed UTF-8, without control characters and noncharacters.`;
  } else if (jsonSchema.type === "string" && jsonSchema.maxLength !== undefined) {
    jsonSchema.description ??= "Its length is counted in UTF-16 code units.";
  }
  if (zodSchema._zod.def.type === "custom") {
    jsonSchema.description = `Any JSON that comes back as it was sent: no lone surrogates, no -0, no whole number beyond 2^53, at most ${fixed.valueDepth} levels deep.`;
  }
}

/** Apart from the conversion, since that hands on what it says of one place to all that share its schema. */
function addMeanings(name: SchemaName, schema: z.core.JSONSchema._JSONSchema): void {
  if (typeof schema === "boolean") return;
  for (const [member, each] of Object.entries(schema.properties ?? {})) {
    addMeanings(name, each);
    const meaning = meanings[`${name}.${member}`] ?? meanings[member];
    if (typeof each === "boolean" || meaning === undefined) continue;
    each.description = each.description === undefined ? meaning : `${meaning} ${each.description}`;
  }
  if (schema.items !== undefined && !Array.isArray(schema.items)) addMeanings(name, schema.items);
  for (const each of schema.oneOf ?? []) addMeanings(name, each);
}

const made = new Map<SchemaName, JsonSchema>();

/** Made when asked for: most programs never do. */
function schemaOf(name: SchemaName): JsonSchema {
  const known = made.get(name);
  if (known !== undefined) return known;
  const { schema, title, description } = sources[name];
  const options = { target: "draft-2020-12", io: "input", unrepresentable: "any", override: sayChecks } as const;
  const { $schema, ...rest } = z.toJSONSchema(schema, options);
  addMeanings(name, rest);
  const whole: JsonSchema = {
    ...($schema === undefined ? {} : { $schema }),
    title,
    description,
    ...rest,
  };
  made.set(name, whole);
  return whole;
}

/** By name of the command or message. What they cannot say stands in their descriptions. */
export const jsonSchemas: { readonly [Name in SchemaName]: JsonSchema } = {
  get start_run() {
    return schemaOf("start_run");
  },
  get cancel_run() {
    return schemaOf("cancel_run");
  },
  get resolve_node() {
    return schemaOf("resolve_node");
  },
  get dispatch() {
    return schemaOf("dispatch");
  },
  get answer() {
    return schemaOf("answer");
  },
  get refusal() {
    return schemaOf("refusal");
  },
  get accepted() {
    return schemaOf("accepted");
  },
  get rejected() {
    return schemaOf("rejected");
  },
};

/** Writes each schema to `<folder>/<name>.json`: a step of the package's build. */
export async function writeSchemas(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const [name, schema] of Object.entries(jsonSchemas)) {
    await writeFile(join(folder, `${name}.json`), `${JSON.stringify(schema, undefined, 2)}\n`);
  }
}
