/** One command: carried out, or refused with a reason that its sender can read and kept for a person to read. */
import { jsonFault } from "./json.ts";
import { commandKey, hashOf } from "./keys.ts";
import type { Limits } from "./limits.ts";
import {
  type CancelRun,
  type Command,
  commandItemSchema,
  commandSchema,
  idSchema,
  type Refusal,
  type ResolveNode,
  type RunItem,
  readItem,
  runItemSchema,
  type StartRun,
} from "./model.ts";
import type { Blobs, World } from "./ports.ts";
import { resolveHash, resolveNode } from "./resolve.ts";
import { issuePath, valueAt } from "./schema-issue.ts";
import { settle } from "./settle.ts";
import { type CommandAnswer, putAnswer, startHash, startRun } from "./start.ts";
import type { AnyTool } from "./tool.ts";
import { requestCancel } from "./transitions.ts";
import type { Item } from "./write.ts";

export type CommandWorld = World & {
  readonly limits: Limits;
  readonly blobs: Blobs;
  readonly tools: ReadonlyMap<string, AnyTool>;
};
export type CommandMessage = { readonly messageId: string; readonly body: string };

const budgetMs = 20_000;
const shownValueLength = 200;

/** @throws when it could neither be carried out nor refused now: the message must come again. */
export async function handleCommand(world: CommandWorld, message: CommandMessage): Promise<void> {
  const parsed = parseCommand(message.body);
  if ("refusal" in parsed) {
    const id = idSchema.safeParse(parsed.commandId);
    return refuse(
      world,
      message,
      { commandId: id.success ? id.data : message.messageId, type: "unreadable", contentHash: hashOf([message.body]) },
      parsed.refusal,
    );
  }
  const { command } = parsed;
  const commandId = command.command_id ?? message.messageId;
  switch (command.type) {
    case "start_run":
      return start(world, message, command, commandId);
    case "cancel_run":
      return cancel(world, message, command, commandId);
    case "resolve_node":
      return resolve(world, message, command, commandId);
    default:
      return command satisfies never;
  }
}

type ParsedCommand = { readonly command: Command } | { readonly refusal: Refusal; readonly commandId: unknown };

function parseCommand(body: string): ParsedCommand {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    return {
      refusal: { code: "not_json", field: "body", rule: "must be JSON", value: shown(body) },
      commandId: undefined,
    };
  }
  const commandId: unknown = typeof value === "object" && value !== null ? Reflect.get(value, "command_id") : undefined;
  const fault = jsonFault(value);
  if (fault !== undefined) {
    return {
      refusal: { code: "bad_value", field: fault.path || "body", rule: `must not hold a ${fault.kind}` },
      commandId,
    };
  }
  const parsed = commandSchema.safeParse(value);
  if (parsed.success) return { command: parsed.data };
  const issue = parsed.error.issues[0];
  const path = issue === undefined ? [] : issuePath(issue);
  const node: unknown = path[0] === "nodes" ? valueAt(value, [...path.slice(0, 2), "node_id"]) : undefined;
  return {
    refusal: {
      code: "bad_field",
      ...(typeof node === "string" ? { node: shown(node) } : {}),
      field: path.map(String).join(".") || "body",
      rule:
        issue?.code === "unrecognized_keys"
          ? "must not be there: no such field is known"
          : (issue?.message ?? "must be a command"),
      value: shown(JSON.stringify(valueAt(value, path)) ?? "nothing"),
    },
    commandId,
  };
}

const shown = (text: string): string =>
  (text.length <= shownValueLength ? text : `${text.slice(0, shownValueLength)}…`).toWellFormed();

/** A run without a time to live waits for someone to resolve a doubt. */
const isExpired = (run: RunItem, nowMs: number): boolean =>
  run.expires_at !== undefined && run.expires_at * 1_000 <= nowMs;

type Named = Pick<CommandAnswer, "commandId" | "type" | "contentHash">;

async function start(
  world: CommandWorld,
  message: CommandMessage,
  command: StartRun,
  commandId: string,
): Promise<void> {
  const { clock, chance, limits, tools } = world;
  const named: Named = { commandId, type: command.type, contentHash: startHash(command) };
  const nowMs = clock.nowMs();
  const generation = chance.id();
  const writes = await startRun({ command, commandId, tools, limits, nowMs, generation });
  if (!("length" in writes)) return refuse(world, message, named, writes);
  const answer = await settle(world, budgetMs, () => world.table.transact(writes));
  if (answer.is === "applied") return accepted(world, command.run_id);
  const [runRefusal, answerRefusal] = answer.refusals;
  const run = runRefusal?.old === undefined ? undefined : readItem(runItemSchema, runRefusal.old);
  // One's own mark: the transaction was applied, and its answer lost.
  if (run?.generation === generation) return accepted(world, command.run_id);
  if (answerRefusal?.old !== undefined) return answered(world, message, named, answerRefusal.old);
  if (run === undefined) throw new Error(`start of run ${JSON.stringify(command.run_id)} was refused without a reason`);
  if (run.content_hash === named.contentHash) {
    return answerWith(world, message, named, {
      outcome: "accepted",
      run_id: run.run_id,
      run_status: run.status,
      changed: false,
    });
  }
  return refuse(world, message, named, {
    code: "run_id_taken",
    field: "run_id",
    rule: "a run of this id exists with other content; choose another run_id, or send the same content",
    value: shown(command.run_id),
  });
}

function accepted(world: CommandWorld, runId: string): void {
  world.count("RunStarted");
  world.log.info("run started", { run_id: runId });
}

async function cancel(
  world: CommandWorld,
  message: CommandMessage,
  command: CancelRun,
  commandId: string,
): Promise<void> {
  const named: Named = {
    commandId,
    type: command.type,
    contentHash: hashOf([command.type, command.run_id, command.reason ?? ""]),
  };
  const nowMs = world.clock.nowMs();
  const answer = await settle(world, budgetMs, () =>
    world.table.write(requestCancel(command.run_id, commandId, command.reason, nowMs)),
  );
  const found = answer.is === "applied" ? answer.item : answer.old;
  const run: RunItem | undefined = found === undefined ? undefined : readItem(runItemSchema, found);
  if (run === undefined || isExpired(run, nowMs)) {
    return refuse(world, message, named, {
      code: "no_such_run",
      field: "run_id",
      rule: "must name a run that was started",
      value: shown(command.run_id),
    });
  }
  // A redelivered cancel, or one whose answer was lost, finds its own mark.
  const changed = run.cancel_command_id === commandId;
  world.count("CancelRequested");
  return answerWith(world, message, named, {
    outcome: "accepted",
    run_id: run.run_id,
    run_status: run.status,
    changed,
  });
}

async function resolve(
  world: CommandWorld,
  message: CommandMessage,
  command: ResolveNode,
  commandId: string,
): Promise<void> {
  const named: Named = { commandId, type: command.type, contentHash: resolveHash(command) };
  const resolved = await resolveNode(world, command, commandId);
  if (resolved.is === "refused") return refuse(world, message, named, resolved.refusal);
  world.count("NodeResolved");
  return answerWith(world, message, named, {
    outcome: "accepted",
    run_id: command.run_id,
    node_status: resolved.status,
    changed: resolved.changed,
  });
}

/** Kept first, then answered: a crash in between keeps it twice, which loses nothing. */
async function refuse(world: CommandWorld, message: CommandMessage, named: Named, refusal: Refusal): Promise<void> {
  const bounded: Refusal = {
    ...refusal,
    rule: refusal.rule.length <= 600 ? refusal.rule : `${refusal.rule.slice(0, 600).toWellFormed()}…`,
    ...(refusal.field === undefined ? {} : { field: shown(refusal.field) }),
    ...(refusal.value === undefined ? {} : { value: shown(refusal.value) }),
  };
  const text = JSON.stringify(bounded);
  await world.queue.reject({ body: message.body, source: "commands", reason: text });
  world.count("CommandRefused");
  world.log.warn("command refused", { command_id: named.commandId, ...bounded });
  await answerWith(world, message, named, { outcome: "refused", refusal: text }, "kept");
}

async function answerWith(
  world: CommandWorld,
  message: CommandMessage,
  named: Named,
  answer: Item,
  kept?: "kept",
): Promise<void> {
  const { clock, limits, table } = world;
  const write = putAnswer({ ...named, nowMs: clock.nowMs(), limits, answer });
  const written = await settle(world, budgetMs, () => table.write(write));
  if (written.is === "refused" && written.old !== undefined) await answered(world, message, named, written.old, kept);
}

/** The command's id has an answer already: its own, from an earlier delivery, or that of another command. */
async function answered(
  world: CommandWorld,
  message: CommandMessage,
  named: Named,
  old: Item,
  kept?: "kept",
): Promise<void> {
  const earlier = readItem(commandItemSchema, old);
  if (earlier.content_hash === named.contentHash && earlier.type === named.type) return;
  world.count("CommandIdTaken");
  if (kept === "kept") return;
  const reason: Refusal = {
    code: "command_id_taken",
    field: "command_id",
    rule: "another command with this id was answered before; each command needs an id of its own",
    value: shown(named.commandId),
  };
  await world.queue.reject({ body: message.body, source: "commands", reason: JSON.stringify(reason) });
}

/** What a sender polls. @returns the answer, or undefined while there is none. */
export async function readAnswer(table: Pick<World["table"], "get">, commandId: string) {
  const item = await table.get(commandKey(commandId));
  return item === undefined ? undefined : readItem(commandItemSchema, item);
}
