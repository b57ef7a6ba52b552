/** Watches a schedule from outside and judges it by the invariants of docs/design.md, each by its name. */
import { dependentsKey, operationIdOf, stepOperationIdOf } from "../../shared/keys.ts";
import {
  isLiving,
  isTerminal,
  type NodeItem,
  nodeItemSchema,
  type RunItem,
  runItemSchema,
} from "../../shared/model.ts";
import { owed } from "../../shared/owed.ts";
import type { Outgoing } from "../../shared/ports.ts";
import type { Item, Write } from "../../shared/write.ts";
import type { Process } from "../../testing/process.ts";
import type { QueueMessage } from "../../testing/queue-model.ts";
import type { AppliedWrites, Witness } from "../../testing/witness.ts";
import type { Engine } from "./engine.ts";
import type { Scenario } from "./scenarios.ts";

export type Violation = { readonly invariant: string; readonly what: string };

export type Checker = {
  readonly witness: Witness;
  /** To be told of the engine once it is made. */
  watch(engine: Engine): void;
  /** What only the end can show. */
  atEnd(): void;
  readonly violations: readonly Violation[];
};

const asNode = (item: Item | undefined): NodeItem | undefined =>
  item?.kind === "node" && item.v === 1 ? nodeItemSchema.parse(item) : undefined;
const asRun = (item: Item | undefined): RunItem | undefined =>
  item?.kind === "run" && item.v === 1 ? runItemSchema.parse(item) : undefined;

const dependentsPrefix = dependentsKey("", "").sk;

/** What an owner may do, as opposed to what anyone may who finds the lease ended. */
const ownersWrites: ReadonlySet<string> = new Set([
  "heartbeat",
  "retry",
  "put_back",
  "await_owner",
  "reconcile_later",
  "not_done",
]);
/** Tools whose effects are made by steps, each under an operation id of its own. */
const stepsByTool: Readonly<Record<string, readonly string[]>> = {
  steps: ["first", "left", "right"],
  "step-once": ["before", "once"],
  "step-then-fails": ["before"],
  "step-looked-up": ["paid"],
};
const requeues: ReadonlySet<string> = new Set([
  "retry",
  "put_back",
  "await_owner",
  "reconcile_later",
  "not_done",
  "resolve_not_done",
]);
/** Classes of which an attempt without a recorded outcome is never dressed up as a failure. */
const carefulTools: ReadonlySet<string> = new Set([
  "once",
  "once-retries",
  "looked-up",
  "looked-up-unsure",
  "never-found",
  "large-once",
  "large-looked-up",
]);

export function checker(scenario: Scenario): Checker {
  const violations: Violation[] = [];
  let engine: Engine | undefined;
  const nodes = new Map<string, NodeItem>();
  let run: RunItem | undefined;
  /** Epoch that each process holds, as the claims told it. */
  const held = new Map<number, Map<string, number>>();
  const madeReady = new Map<string, number>();
  let claims = 0;
  let toolCalls = 0;
  /** Claims that may have led to no call: taken over, put back, called off. */
  let excused = 0;
  /** By the one clock that is not off. */
  const endedAtMs = new Map<string, number>();

  const fail = (invariant: string, what: string): void => {
    violations.push({ invariant, what });
  };

  /** By the run as it was made: of two starts that differ, either may be the first. */
  const dependentsByNode = new Map<string, readonly string[]>();
  const parentsByNode = new Map<string, string[]>();
  const addEdges = (nodeId: string, dependents: string): void => {
    const ids = (JSON.parse(dependents) as [string, number][]).map(([id]) => id);
    dependentsByNode.set(nodeId, ids);
    for (const id of ids) parentsByNode.set(id, [...(parentsByNode.get(id) ?? []), nodeId]);
  };
  const learnEdges = ({ write, old, new: item }: AppliedWrites["writes"][number]): void => {
    if (old !== undefined) return;
    if (item.kind === "node" && typeof item.dependents === "string")
      addEdges(String(item.sk).slice("NODE#".length), item.dependents);
    if (write.name === "dependents_beside") addEdges(write.key.sk.slice(dependentsPrefix.length), String(item.value));
  };
  const dependentsIds = (node: NodeItem): readonly string[] => dependentsByNode.get(node.node_id) ?? [];
  const parentsOf = (node: NodeItem): readonly NodeItem[] =>
    (parentsByNode.get(node.node_id) ?? []).flatMap((id) => nodes.get(id) ?? []);

  const judgeNode = (old: NodeItem | undefined, node: NodeItem, write: Write, applied: AppliedWrites): void => {
    const { name } = write;
    const at = `${node.node_id} by ${name} of ${applied.by.kind} ${applied.by.id}`;
    if (old === undefined) return;
    if (isTerminal(old.status)) fail("I9", `terminal ${old.status} was written: ${at}`);
    if (node.epoch < old.epoch) fail("I3", `epoch fell from ${old.epoch} to ${node.epoch}: ${at}`);
    const isClaim = name === "claim" || name === "claim_to_reconcile";
    if (isClaim) {
      if (name === "claim" && carefulTools.has(node.tool) && old.epoch > old.certain_through_epoch) {
        fail("effect", `a careful tool was claimed over an open attempt: ${at}`);
      }
      if (node.epoch !== old.epoch + 1)
        fail("I3", `a claim raised the epoch from ${old.epoch} to ${node.epoch}: ${at}`);
      judgeClaim(old, at, applied.by.clock.nowMs());
      for (const [other, epoch] of held.get(applied.by.id) ?? []) {
        const mine = nodes.get(other);
        const isOpen = other !== node.node_id && mine?.status === "RUNNING" && mine.epoch === epoch;
        if (isOpen) fail("I3", `claimed while the same process holds ${other}: ${at}`);
      }
      if (name === "claim") claims += 1;
      if (old.status === "RUNNING") excused += 1;
      held.set(applied.by.id, (held.get(applied.by.id) ?? new Map()).set(node.node_id, node.epoch));
    } else if (name === "resolve_not_done") {
      if (old.status !== "IN_DOUBT" || node.epoch !== old.epoch + 1)
        fail("I3", `a resolution raised the epoch from ${old.epoch} to ${node.epoch}: ${at}`);
    } else if (node.epoch !== old.epoch) fail("I3", `epoch changed without a claim: ${at}`);
    if (
      name === "put_back" ||
      name === "await_owner" ||
      name === "enter_doubt" ||
      (name.startsWith("end_") && applied.by.kind === "worker" && node.effect !== "done")
    )
      excused += 1;
    const isByOther =
      held.get(applied.by.id)?.get(node.node_id) === undefined &&
      old.status === "RUNNING" &&
      applied.by.kind === "worker";
    const isAlive = (old.lease_expires_at_ms ?? 0) + (engine?.limits.skewMs ?? 0) >= applied.by.clock.nowMs();
    if (isByOther && !isClaim && isAlive) fail("I2", `taken from a living owner: ${at}`);
    const heldEpoch = held.get(applied.by.id)?.get(node.node_id);
    // Whoever finds an ended lease writes on condition of what it found; it may have owned the node before, and not know it.
    const isAsFound = write.conditions.some(
      (condition) => "attr" in condition && condition.attr === "lease_expires_at_ms",
    );
    const isOwners =
      ownersWrites.has(name) ||
      (name.startsWith("end_") && heldEpoch !== undefined && old.status === "RUNNING" && !isAsFound);
    if (isOwners && (heldEpoch !== old.epoch || old.status !== "RUNNING")) {
      fail("I2", `owner of epoch ${heldEpoch} wrote at ${old.status} ${old.epoch}: ${at}`);
    }
    if (old.status === "PENDING" && node.status !== "PENDING") judgeFreed(node, at);
    if (node.certain_through_epoch < old.certain_through_epoch) fail("I14", `what was certain is not any more: ${at}`);
    if (node.attempts_used > node.max_attempts)
      fail("I6", `${node.attempts_used} of ${node.max_attempts} attempts used: ${at}`);
    const isRequeue = requeues.has(name);
    if (old.status === "IN_DOUBT" && applied.by.kind !== "commands")
      fail("I14", `a doubt was ended by ${applied.by.kind}: ${at}`);
    const isOpen = node.epoch > node.certain_through_epoch;
    if (!isTerminal(node.status) && isOpen !== (node.open_since_ms !== undefined))
      fail("I14", `open_since_ms does not say what is open: ${at}`);
    if (node.status === "READY" && old.status !== "PENDING" && !isRequeue)
      fail("I2", `${old.status} was made READY: ${at}`);
    if (node.status === "READY" && old.status !== "READY") judgeReadyAndTerminal(applied, node, at);
    if (isTerminal(node.status) && !isTerminal(old.status)) {
      endedAtMs.set(node.node_id, applied.atMs);
      judgeReadyAndTerminal(applied, node, at);
    }
  };

  /** By the clock of whoever claims: what it may believe. */
  const judgeClaim = (old: NodeItem, at: string, nowMs: number): void => {
    const skewMs = engine?.limits.skewMs ?? 0;
    if (old.status === "READY") {
      if ((old.not_before_ms ?? 0) > nowMs) fail("I3", `claimed before it was due: ${at}`);
    } else if (old.status !== "RUNNING") fail("I3", `claimed from ${old.status}: ${at}`);
    else if ((old.lease_expires_at_ms ?? 0) + skewMs >= nowMs) fail("I3", `claimed while the lease is alive: ${at}`);
    if (scenario.undeployed?.includes(old.tool) === true) fail("I6", `an unknown tool used an attempt: ${at}`);
  };

  const judgeFreed = (node: NodeItem, at: string): void => {
    const living = parentsOf(node).filter((parent) => !isTerminal(parent.status));
    if (living.length > 0)
      fail("I15", `left PENDING while ${living.map((parent) => parent.node_id).join()} lives: ${at}`);
    const failed = parentsOf(node).some((parent) => parent.status !== "SUCCEEDED");
    if (node.status === "READY" && failed)
      fail("I11", `became READY although something it needs did not succeed: ${at}`);
    if (node.status === "SKIPPED" && !failed) fail("I11", `was SKIPPED although all that it needs succeeded: ${at}`);
    const times = (madeReady.get(node.node_id) ?? 0) + 1;
    madeReady.set(node.node_id, times);
    if (times > 1) fail("I11", `left PENDING ${times} times: ${at}`);
  };

  /** I1: what the change needs stands in the same transaction. A join made READY by the relay or the scanner is the exception. */
  const judgeReadyAndTerminal = (applied: AppliedWrites, node: NodeItem, at: string): void => {
    const entry = applied.writes.find(({ write }) => write.name === "outbox")?.new;
    const isJoin = node.status === "READY" && applied.writes.length === 1;
    if (isJoin) {
      if (applied.by.kind === "worker") fail("I1", `made READY by a worker without an entry: ${at}`);
      return;
    }
    if (node.status === "READY") {
      const listed =
        entry !== undefined &&
        String(entry.messages).includes(JSON.stringify([node.node_id, node.dispatch_id]).slice(1, -1));
      if (!listed) fail("I1", `READY without its message in an entry: ${at}`);
      return;
    }
    const freedHere = new Set(
      applied.writes
        .filter(({ write }) => write.name === "ready_alone")
        .map(({ new: item }) => String(item.sk).slice("NODE#".length)),
    );
    const advances = new Set(entry === undefined ? [] : (JSON.parse(String(entry.advances)) as string[]));
    const dependents = dependentsIds(node);
    for (const id of dependents)
      if (!freedHere.has(id) && !advances.has(id)) fail("I1", `ended without setting ${id} free: ${at}`);
    const endsRun = applied.writes.some(({ write }) => write.name === "end_run");
    if (dependents.length === 0 && !endsRun && entry?.advance_run !== true)
      fail("I1", `a sink ended and the run does not hear of it: ${at}`);
  };

  /** What is remembered once stays, and only the owner adds to it. */
  const judgeJournal = (old: Item | undefined, journal: Item, name: string, applied: AppliedWrites): void => {
    const nodeId = String(journal.sk).slice("JOURNAL#".length);
    const epoch = held.get(applied.by.id)?.get(nodeId);
    if (journal.epoch !== epoch)
      fail("I2", `owner of epoch ${epoch} wrote a journal of epoch ${String(journal.epoch)} by ${name}`);
    if (Number(old?.epoch ?? 0) > Number(journal.epoch)) fail("I2", `the fence of a journal was lowered by ${name}`);
    for (const [attribute, value] of Object.entries(old ?? {})) {
      const isChanged = attribute.startsWith("step_") && journal[attribute] !== value;
      if (isChanged) fail("I9", `a remembered step was written over by ${name}: ${attribute} of ${nodeId}`);
    }
  };

  const judgeRun = (old: RunItem | undefined, now: RunItem): void => {
    if (old !== undefined && !isLiving(old.status)) fail("I9", `run in ${old.status} was written to ${now.status}`);
    if (old?.status === "CANCELLING" && now.status === "RUNNING") fail("I9", "a cancelled run went back to RUNNING");
    if (isLiving(now.status)) return;
    const living = [...nodes.values()].filter((node) => !isTerminal(node.status));
    if (living.length > 0)
      fail("I15", `run ended ${now.status} while ${living.map((node) => node.node_id).join()} lives`);
    const allSucceeded = [...nodes.values()].every((node) => node.status === "SUCCEEDED");
    if (now.status === "SUCCEEDED" && !allSucceeded) fail("I15", "run SUCCEEDED though not all of its nodes did");
    if ((now.status === "FAILED" || now.status === "EXPIRED") && allSucceeded)
      fail("I15", `run ${now.status} though all of its nodes succeeded`);
    if ((now.status === "CANCELLED") !== (old?.status === "CANCELLING"))
      fail("I15", `run ended ${now.status} from ${old?.status}`);
    if (now.scan_shard !== undefined || now.scan_at_ms !== undefined) fail("I7", "an ended run is still in the index");
  };

  const applied = (one: AppliedWrites): void => {
    // A transaction is one instant: its nodes are all as they are afterwards before any is judged.
    for (const { write, old, new: item } of one.writes) {
      if (old !== undefined && old.v !== 1) fail("v", `an item of an unknown version was written by ${write.name}`);
      if (item.kind === "journal") judgeJournal(old, item, write.name, one);
      if (old?.kind === "command") fail("I9", `an answer was written over by ${write.name}`);
    }
    for (const write of one.writes) learnEdges(write);
    const before = one.writes.map(({ old }) => ({ node: asNode(old), run: asRun(old) }));
    for (const { new: item } of one.writes) {
      const node = asNode(item);
      if (node !== undefined) nodes.set(node.node_id, node);
      run = asRun(item) ?? run;
    }
    for (const [index, { write, new: item }] of one.writes.entries()) {
      const node = asNode(item);
      if (node !== undefined) judgeNode(before[index]?.node, node, write, one);
      const newRun = asRun(item);
      if (newRun !== undefined) judgeRun(before[index]?.run, newRun);
    }
  };

  /** I4: by the state as it is, the message is superfluous. */
  const acknowledged = (message: QueueMessage): void => {
    const parsed = safeDispatch(message.body);
    const node = parsed === undefined ? undefined : nodes.get(parsed.node_id);
    if (parsed === undefined || node === undefined || parsed.run_id !== node.run_id) {
      if (!engine?.rejected.some((rejection) => rejection.body === message.body))
        fail("I13", `a message that is none was not kept: ${message.body}`);
      return;
    }
    if (
      isTerminal(node.status) ||
      node.dispatch_id !== parsed.dispatch_id ||
      node.status === "PENDING" ||
      node.status === "IN_DOUBT"
    )
      return;
    if (scenario.undeployed?.includes(node.tool) === true) return;
    const isOthers = node.status === "RUNNING" && node.message_id !== message.id;
    if (!isOthers)
      fail(
        "I4",
        `message ${message.body} was acknowledged at ${node.status} ${node.dispatch_id} of message ${node.message_id}`,
      );
  };

  /** Whoever sends a node's message sends it to the node's pool. */
  const sent = ({ dispatch, pool }: Outgoing, by: Process): void => {
    const node = nodes.get(dispatch.node_id);
    if (node !== undefined && node.run_id === dispatch.run_id && node.pool !== pool)
      fail("pool", `${by.kind} ${by.id} sent ${node.node_id} of pool ${node.pool} to pool ${pool}`);
  };

  const atEnd = (): void => {
    if (engine === undefined) throw new Error("the checker was not told of the engine");
    if (scenario.refused === true) {
      if (run !== undefined) fail("I13", "a start that breaks a rule made a run");
      if (engine.rejected.length === 0) fail("I13", "a refused start was not kept");
      return;
    }
    if (run === undefined) {
      fail("I8", "the run was never made");
      return;
    }
    if (isLiving(run.status)) {
      const states = [...nodes.values()].map((node) => `${node.node_id}:${node.status}`).join(" ");
      fail("I8", `the run is stuck in ${run.status}: ${states}`);
      return;
    }
    judgeEffects(engine, run);
    for (const text of engine.outside.ledger.misread) fail("values", `an output came back as ${text}`);
    if (claims - toolCalls > engine.tally.crashes + excused) {
      fail(
        "I6",
        `${claims} claims led to ${toolCalls} calls, with ${engine.tally.crashes} crashes and ${excused} excused`,
      );
    }
    const todo = owed(run, [], engine.clockwork.nowMs(), engine.limits);
    if (todo.endRun) fail("I7", "something is owed to a run that has ended");
    const left = engine.dispatches.living();
    if (left.length > 0) fail("I4", `${left.length} messages are left: ${left.map((message) => message.body).join()}`);
    for (const stray of scenario.strayMessages ?? []) {
      if (!engine.rejected.some((rejection) => rejection.body === stray))
        fail("I13", `stray message was not kept: ${stray}`);
    }
  };

  const judgeEffects = (ended: Engine, of: RunItem): void => {
    const { calls, effects } = ended.outside.ledger;
    for (const node of nodes.values()) {
      const operationId = operationIdOf("simulation", of.run_id, of.generation, node.node_id);
      const mine = calls.filter((call) => call.nodeId === node.node_id);
      const own = new Set([
        operationId,
        ...(stepsByTool[node.tool] ?? []).map((step) => stepOperationIdOf(operationId, step)),
      ]);
      if (mine.some((call) => !own.has(call.operationId)))
        fail("I5", `${node.node_id} was called under another operation id`);
      const made = effects.get(operationId) ?? 0;
      if (made > 1) fail("effect", `${node.node_id} had ${made} effects`);
      if (node.effect === "none" && mine.some((call) => call.effect))
        fail("I14", `${node.node_id} ended ${node.status} with effect none, and a step had one`);
      if (node.effect === "none" && made > 0)
        fail("I14", `${node.node_id} ended ${node.status} with effect none, and the ledger has one`);
      if (node.status === "SKIPPED" && mine.length > 0) fail("I15", `${node.node_id} was SKIPPED and called`);
      if (node.status === "SUCCEEDED" && node.effect !== "done")
        fail("I14", `${node.node_id} SUCCEEDED with effect ${node.effect}`);
      if (
        node.effect === "done" &&
        node.tool !== "read" &&
        node.tool !== "fails" &&
        stepsByTool[node.tool] === undefined &&
        made === 0
      )
        fail("I14", `${node.node_id} claims an effect that the ledger does not have`);
      const isBlind = carefulTools.has(node.tool);
      if (isBlind && isTerminal(node.status) && node.effect === "unknown" && node.resolved_by === undefined) {
        fail("I14", `${node.node_id} of a careful class ended ${node.status} with an effect that nobody knows`);
      }
      if (mine.some((call) => call.attempt > node.max_attempts))
        fail("I6", `${node.node_id} was tried more often than allowed`);
      judgeOrder(node, mine);
    }
    for (const [operationId, made] of effects) {
      if (made > 1) fail("effect", `operation ${operationId} had ${made} effects`);
    }
  };

  const judgeOrder = (node: NodeItem, calls: Engine["outside"]["ledger"]["calls"]): void => {
    for (const parent of parentsOf(node)) {
      if (calls.length > 0 && parent.status !== "SUCCEEDED")
        fail("I11", `${node.node_id} was called though ${parent.node_id} is ${parent.status}`);
      if (calls.some((call) => call.atMs < (endedAtMs.get(parent.node_id) ?? 0)))
        fail("I11", `${node.node_id} was called before ${parent.node_id} had ended`);
    }
    const tokens = calls.map((call) => call.fencingToken);
    if (new Set(tokens).size !== tokens.length && node.tool !== "never-stops" && stepsByTool[node.tool] === undefined)
      fail("I3", `${node.node_id} was called twice under one fencing token`);
  };

  return {
    witness: {
      applied,
      acknowledged,
      sent,
      counted: (name) => {
        if (name === "ToolCalled") toolCalls += 1;
      },
    },
    watch: (made) => {
      engine = made;
    },
    atEnd,
    violations,
  };
}

function safeDispatch(
  body: string,
): { readonly run_id: string; readonly node_id: string; readonly dispatch_id: string } | undefined {
  try {
    const value = JSON.parse(body);
    return typeof value?.node_id === "string" && typeof value?.dispatch_id === "string" ? value : undefined;
  } catch {
    return undefined;
  }
}
