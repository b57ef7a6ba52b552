/**
 * What is stored and what is sent, schema first; types are inferred. Everything that is read back from the table passes
 * through these schemas again, and an item whose `v` is not known fails the delivery instead of being guessed at.
 */
import * as z from "zod";
import { type Json, jsonFault } from "./json.ts";
import { nodePrefix, runPrefix } from "./keys.ts";
import { fixed } from "./limits.ts";
import { poolNameSchema, toolNameSchema } from "./names.ts";

const controlOrNoncharacter = /[\p{Cc}\p{Noncharacter_Code_Point}]/u;

/** Why a string is no id, or undefined where it is one. */
function idFault(id: string): string | undefined {
  if (id.length === 0) return "must not be empty";
  if (!id.isWellFormed()) return "must be well-formed Unicode (it holds half of a surrogate pair)";
  if (controlOrNoncharacter.test(id)) return "must hold no control characters nor noncharacters";
  const bytes = Buffer.byteLength(id, "utf8");
  if (bytes > fixed.idBytes) return `must be at most ${fixed.idBytes} bytes of UTF-8 (it has ${bytes})`;
  return undefined;
}

/** 1 to 256 bytes of well-formed UTF-8 without control characters or noncharacters; nothing else is special. */
export const idSchema = z.string().superRefine((id, context) => {
  const fault = idFault(id);
  if (fault !== undefined) context.addIssue({ code: "custom", message: fault });
});

/** `d-0`, `d-1`, …: the epoch at which the node was made READY. Deterministic, never used twice. */
export const dispatchIdSchema = z.string().regex(/^d-(0|[1-9]\d{0,14})$/, "must be d- and a number");

/** The body of a dispatch message, and nothing else. */
export const dispatchSchema = z.strictObject({ run_id: idSchema, node_id: idSchema, dispatch_id: dispatchIdSchema });

/**
 * PENDING    waits for other nodes. Left when the last of them ends: by the commit of that node, the relay or the scanner.
 * READY      may run from `not_before_ms` on. Left by a worker's claim, which runs it or ends it.
 * RUNNING    one attempt owns it. Left by that attempt's commit, or by a claim once the lease has ended.
 * SUCCEEDED, FAILED, CANCELLED, EXPIRED, SKIPPED are final: nobody moves a node out of them.
 * IN_DOUBT   its effect may or may not have happened. Left by resolve_node only; deadline and cancel leave it alone.
 * WAITING is kept for signals; nothing makes it yet.
 */
export const nodeStatusSchema = z.enum([
  "PENDING",
  "READY",
  "RUNNING",
  "WAITING",
  "IN_DOUBT",
  "SUCCEEDED",
  "FAILED",
  "CANCELLED",
  "EXPIRED",
  "SKIPPED",
]);
export type NodeStatus = z.infer<typeof nodeStatusSchema>;

const terminalNodeStatuses: ReadonlySet<NodeStatus> = new Set([
  "SUCCEEDED",
  "FAILED",
  "CANCELLED",
  "EXPIRED",
  "SKIPPED",
]);
export const isTerminal = (status: NodeStatus): boolean => terminalNodeStatuses.has(status);

/**
 * RUNNING    nodes are started as they become ready. Left by the end of its last node, or by cancel_run.
 * CANCELLING nothing new starts. Left when its last node has ended.
 * SUCCEEDED, FAILED, CANCELLED, EXPIRED are final. A start in parts will add STARTING.
 */
export const runStatusSchema = z.enum(["RUNNING", "CANCELLING", "SUCCEEDED", "FAILED", "CANCELLED", "EXPIRED"]);
export type RunStatus = z.infer<typeof runStatusSchema>;
export const isLiving = (status: RunStatus): boolean => status === "RUNNING" || status === "CANCELLING";

/** What is known of a node's effect once it has ended (I14). */
export const effectKnownSchema = z.enum(["none", "done", "unknown"]);
export type EffectKnown = z.infer<typeof effectKnownSchema>;

export const wholeNumber = z.number().int().nonnegative().max(Number.MAX_SAFE_INTEGER);
const ordinalSet = z.set(wholeNumber);
export const version = z.literal(1);
export const keyFields = { pk: z.string(), sk: z.string() };

export const runItemSchema = z.object({
  ...keyFields,
  kind: z.literal("run"),
  v: version,
  run_id: idSchema,
  /** Tells this run from an expired one of the same id. */
  generation: z.string(),
  status: runStatusSchema,
  content_hash: z.string(),
  node_count: wholeNumber,
  created_at_ms: wholeNumber,
  deadline_at_ms: wholeNumber,
  /** Ordinals of the sinks that have not ended; missing when none is left. */
  waiting_on: ordinalSet.optional(),
  dep_failed: z.boolean().optional(),
  cancel_reason: z.string().optional(),
  /** How long its items outlive its deadline or its end. */
  retention_ms: wholeNumber.optional(),
  /** The command that cancelled it, so that a lost reply is known as one's own write. */
  cancel_command_id: z.string().optional(),
  ended_at_ms: wholeNumber.optional(),
  /** The sparse index: present while the run lives. */
  scan_shard: wholeNumber.optional(),
  scan_at_ms: wholeNumber.optional(),
  /** When the scanner looked last; a look of which no queue took anything does not count. */
  scanned_at_ms: wholeNumber,
  /** TTL in seconds; missing while a node of it is in doubt. */
  expires_at: wholeNumber.optional(),
});
export type RunItem = z.infer<typeof runItemSchema>;

/** A node that waits for this one: its id, whether it waits for nothing else, and then its pool, where it has one. */
export const dependentSchema = z.tuple([idSchema, z.union([z.literal(0), z.literal(1)]), poolNameSchema.optional()]);
export type Dependent = z.infer<typeof dependentSchema>;

const storedNodeSchema = z.object({
  ...keyFields,
  kind: z.literal("node"),
  v: version,
  run_id: idSchema,
  node_id: idSchema,
  generation: z.string(),
  /** Its number in the run, in the order given at start. */
  ordinal: wholeNumber,
  tool: toolNameSchema,
  /** The pool that its tool named when the run was started; missing for the main worker. */
  pool: poolNameSchema.optional(),
  status: nodeStatusSchema,
  dispatch_id: dispatchIdSchema,
  /** The lease epoch: the fencing token. Raised by each claim. */
  epoch: wholeNumber,
  attempts_used: wholeNumber,
  max_attempts: wholeNumber,
  /** Attempts above it may have had an effect that nobody recorded. */
  certain_through_epoch: wholeNumber,
  /** Claim time of the oldest open attempt. */
  open_since_ms: wholeNumber.optional(),
  deadline_at_ms: wholeNumber,
  ready_at_ms: wholeNumber.optional(),
  not_before_ms: wholeNumber.optional(),
  waiting_on: ordinalSet.optional(),
  dep_failed: z.boolean().optional(),
  claim_id: z.string().optional(),
  message_id: z.string().optional(),
  lease_expires_at_ms: wholeNumber.optional(),
  owner_dead_at_ms: wholeNumber.optional(),
  /** JSON text, or missing with `input_beside` when it is an item of its own. */
  input: z.string().optional(),
  input_beside: z.boolean().optional(),
  output: z.string().optional(),
  /** Epoch under which the output stands in an item of its own. */
  output_epoch: wholeNumber.optional(),
  /** Hash of an output that stands in an object, under the epoch above. */
  output_blob: z.string().optional(),
  /** JSON text of the last error, bounded. */
  error: z.string().optional(),
  error_epoch: wholeNumber.optional(),
  effect: effectKnownSchema.optional(),
  /** JSON text of a list of dependents. */
  dependents: z.string().optional(),
  dependents_beside: z.boolean().optional(),
  ended_at_ms: wholeNumber.optional(),
  /** A step that changes something has been remembered: whatever becomes of the node, its effect is not `none`. */
  part_done: z.boolean().optional(),
  /** Owners up to this epoch were surely dead before the node was READY again. */
  owners_dead_through_epoch: wholeNumber.optional(),
  /** Calls of `reconcile` begun since the last certain outcome. */
  reconciles_used: wholeNumber.optional(),
  /** JSON text: since when it is in doubt, and why. */
  doubt: z.string().optional(),
  /** JSON text: how a doubt was resolved, by whom and why. */
  resolution: z.string().optional(),
  /** The command that resolved it, so that a lost reply is known as one's own write. */
  resolved_by: z.string().optional(),
  /** TTL in seconds; missing while it is in doubt. */
  expires_at: wholeNumber.optional(),
});
export type NodeItem = z.infer<typeof storedNodeSchema>;

const keySchema = z.object(keyFields);

/** Both ids stand in the key and are not written a second time: each write is charged for the whole item. */
export const nodeItemSchema = z.preprocess((item) => {
  const key = keySchema.safeParse(item);
  if (!key.success || typeof item !== "object") return item;
  const { pk, sk } = key.data;
  return { ...item, run_id: pk.slice(runPrefix.length), node_id: sk.slice(nodePrefix.length) };
}, storedNodeSchema);

/** Why a command was refused: a code for programs, the node and the rule for people, and what came. */
export const refusalSchema = z.object({
  code: z.string(),
  node: z.string().optional(),
  field: z.string().optional(),
  rule: z.string(),
  value: z.string().optional(),
});
export type Refusal = z.infer<typeof refusalSchema>;

export const commandItemSchema = z.object({
  ...keyFields,
  kind: z.literal("command"),
  v: version,
  command_id: idSchema,
  type: z.string(),
  content_hash: z.string(),
  outcome: z.enum(["accepted", "refused"]),
  run_id: z.string().optional(),
  /** Status of the run when the command was answered. */
  run_status: runStatusSchema.optional(),
  /** Status of the node that was resolved. */
  node_status: nodeStatusSchema.optional(),
  /** False where the command found its work done already. */
  changed: z.boolean().optional(),
  /** JSON text of a Refusal. */
  refusal: z.string().optional(),
  answered_at_ms: wholeNumber,
  expires_at: wholeNumber,
});
export type CommandItem = z.infer<typeof commandItemSchema>;

/** Kept as it came: a schema that copies members would leave out one named `__proto__`. */
const jsonSchema = z.custom<Json>((value) => jsonFault(value) === undefined, "must be JSON");

const nodeCommandSchema = z.strictObject({
  node_id: idSchema,
  tool: toolNameSchema,
  /** JSON; may hold `{ "$output": node_id, "pointer": "/a" }` and `{ "$literal": … }`. @default {} */
  input: jsonSchema.default({}),
  depends_on: z.array(idSchema).default([]),
});
export type NodeCommand = z.infer<typeof nodeCommandSchema>;

export const startRunSchema = z.strictObject({
  type: z.literal("start_run"),
  /** What the answer is filed under. @default the SQS message's id */
  command_id: idSchema.optional(),
  run_id: idSchema,
  /** How long the run may take, from its acceptance on. @default limits.runDeadlineMs */
  deadline_ms: z.number().int().min(1).max(fixed.runDeadlineMs).optional(),
  nodes: z.array(nodeCommandSchema).min(1),
});
export type StartRun = z.infer<typeof startRunSchema>;

export const cancelRunSchema = z.strictObject({
  type: z.literal("cancel_run"),
  command_id: idSchema.optional(),
  run_id: idSchema,
  reason: z.string().max(256).optional(),
});
export type CancelRun = z.infer<typeof cancelRunSchema>;

const resolutionFields = {
  type: z.literal("resolve_node"),
  command_id: idSchema.optional(),
  run_id: idSchema,
  node_id: idSchema,
  /** The epoch in doubt, as `status` shows it: a resolution of any other is refused. */
  epoch: wholeNumber,
  /** Who says so, and on what grounds: kept with the node. */
  by: z.string().min(1).max(256),
  why: z.string().min(1).max(1_024),
};

export const resolveNodeSchema = z.discriminatedUnion("resolution", [
  /** The effect happened, and this is what the tool would have returned. */
  z.strictObject({ ...resolutionFields, resolution: z.literal("succeeded"), output: jsonSchema }),
  /** The effect did not happen and never will: the node is run again, with a fresh budget. */
  z.strictObject({ ...resolutionFields, resolution: z.literal("not_done") }),
  /** The node ends FAILED; what is known of the effect is said with it. */
  z.strictObject({
    ...resolutionFields,
    resolution: z.literal("failed"),
    effect: effectKnownSchema.default("unknown"),
  }),
]);
export type ResolveNode = z.infer<typeof resolveNodeSchema>;

export const commandSchema = z.discriminatedUnion("type", [startRunSchema, cancelRunSchema, resolveNodeSchema]);
export type Command = z.infer<typeof commandSchema>;

/** Reads an item back from the table. @throws Error that names the item and the fault, for an unknown `v` too. */
export function readItem<Schema extends z.ZodType>(schema: Schema, item: unknown): z.infer<Schema> {
  const parsed = schema.safeParse(item);
  if (parsed.success) return parsed.data;
  const key =
    typeof item === "object" && item !== null
      ? JSON.stringify({ pk: Reflect.get(item, "pk"), sk: Reflect.get(item, "sk") })
      : "?";
  const first = parsed.error.issues[0];
  throw new Error(
    `stored item ${key} is not what this version can read: ${first?.path.join(".") ?? ""} ${first?.message ?? ""}`,
  );
}
