/**
 * Every way from one state to another, each built by one named function that returns writes. Who may take it is in the
 * writes' conditions. Every way into a terminal state goes through `endNode`, which adds the outbox entry: a terminal
 * write without it would strand what waits.
 */
import { journalKey, nodeKey, runKey } from "./keys.ts";
import { fixed } from "./limits.ts";
import type { Dependent, EffectKnown, NodeItem, RunItem, RunStatus } from "./model.ts";
import { type Intent, isEmpty, putOutbox } from "./outbox.ts";
import type { Condition, Item, Key, Put, Update, Write } from "./write.ts";

export const dispatchIdAt = (epoch: number): string => `d-${epoch}`;
const readsVersion: Condition = { attr: "v", is: "equal", value: 1 };

/** Every write of an owner proves that it still owns the node (I2). */
export const ownedAt = (epoch: number): readonly Condition[] => [
  { attr: "status", is: "equal", value: "RUNNING" },
  { attr: "epoch", is: "equal", value: epoch },
];

const nodeUpdate = (node: NodeItem, name: string, change: Omit<Update, "op" | "name" | "key">): Update => ({
  op: "update",
  name,
  key: nodeKey(node.run_id, node.node_id),
  ...change,
});

export type ClaimRequest = {
  readonly runId: string;
  readonly nodeId: string;
  readonly dispatchId: string;
  readonly claimId: string;
  readonly messageId: string;
  readonly nowMs: number;
  readonly leaseMs: number;
  readonly skewMs: number;
  /** What is left of the invocation: after it the owner is surely dead. */
  readonly remainingMs: number;
  /** Tools that may be run again after an attempt whose outcome is not known. */
  readonly carefree: readonly string[];
  /** Tools of which an open attempt must be looked into first. */
  readonly careful: readonly string[];
};

/** READY -> RUNNING, or a take-over of RUNNING whose lease has ended: one conditional write that raises the epoch (I3). */
export function claim(request: ClaimRequest): Update {
  const { nowMs } = request;
  return {
    op: "update",
    name: "claim",
    key: nodeKey(request.runId, request.nodeId),
    set: leaseOf(request),
    setIfMissing: { open_since_ms: nowMs },
    add: { epoch: 1, attempts_used: 1 },
    conditions: [
      readsVersion,
      { attr: "dispatch_id", is: "equal", value: request.dispatchId },
      { anyOf: runnableTools(request) },
      { attr: "deadline_at_ms", is: "above", value: nowMs },
      { attr: "attempts_used", is: "belowAttribute", other: "max_attempts" },
      {
        anyOf: [
          [
            { attr: "status", is: "equal", value: "READY" },
            { attr: "not_before_ms", is: "atMost", value: nowMs },
          ],
          [
            { attr: "status", is: "equal", value: "RUNNING" },
            { attr: "lease_expires_at_ms", is: "below", value: nowMs - request.skewMs },
            // The SDK repeats a call whose answer was lost; a repeat must not take over from itself.
            { attr: "claim_id", is: "notEqual", value: request.claimId },
          ],
        ],
      },
    ],
  };
}

const leaseOf = (request: ClaimRequest): Item => ({
  status: "RUNNING",
  claim_id: request.claimId,
  message_id: request.messageId,
  lease_expires_at_ms: request.nowMs + request.leaseMs,
  owner_dead_at_ms: request.nowMs + Math.floor(request.remainingMs) + request.skewMs,
});

/** An unknown tool uses no attempt; a careful one is not run over an attempt that may have had an effect. */
function runnableTools({ carefree, careful }: ClaimRequest): readonly (readonly Condition[])[] {
  const alternatives: (readonly Condition[])[] = [];
  if (carefree.length > 0) alternatives.push([{ attr: "tool", is: "oneOf", values: carefree }]);
  if (careful.length > 0) {
    alternatives.push([
      { attr: "tool", is: "oneOf", values: careful },
      { attr: "open_since_ms", is: "missing" },
    ]);
  }
  // A deployment without tools runs nothing.
  return alternatives.length > 0 ? alternatives : [[{ attr: "tool", is: "equal", value: "" }]];
}

/**
 * READY or RUNNING -> RUNNING, to look an open attempt up and not to run the tool: it uses up a reconcile and no attempt,
 * and looks neither at the attempts left nor at the deadline. On condition that the node still is as it was found.
 */
export const claimToReconcile = (node: NodeItem, request: ClaimRequest, asFound: readonly Condition[]): Update =>
  nodeUpdate(node, "claim_to_reconcile", {
    set: leaseOf(request),
    add: { epoch: 1, reconciles_used: 1 },
    conditions: [readsVersion, ...asFound],
  });

/** RUNNING stays RUNNING: a living owner extends its lease. */
export const heartbeat = (node: NodeItem, leaseExpiresAtMs: number): Update =>
  nodeUpdate(node, "heartbeat", { set: { lease_expires_at_ms: leaseExpiresAtMs }, conditions: ownedAt(node.epoch) });

/** An attempt before this one ended without a recorded outcome. */
export const hasEarlierOpenAttempt = (node: NodeItem): boolean => node.epoch - 1 > node.certain_through_epoch;
/** Some attempt, the last included, ended without a recorded outcome. */
export const hasOpenAttempt = (node: NodeItem): boolean => node.epoch > node.certain_through_epoch;

const leaseAttributes = ["lease_expires_at_ms", "owner_dead_at_ms", "message_id"] as const;

/** What is certain of all attempts so far is marked as such; what is not leaves the mark and the oldest claim time alone. */
const certainty = (node: NodeItem, certain: boolean): { readonly set: Item; readonly remove: readonly string[] } =>
  certain
    ? { set: { certain_through_epoch: node.epoch }, remove: ["open_since_ms", "reconciles_used"] }
    : { set: {}, remove: [] };

/** Attributes that hold an output or an error, or say where it stands; and those that do not any more. */
export type Record = { readonly set: Item; readonly remove: readonly string[] };
export const noRecord: Record = { set: {}, remove: [] };

export type Requeue = {
  readonly notBeforeMs: number;
  readonly certain: boolean;
  readonly record: Record;
  /** False gives the attempt back: its tool was never called. */
  readonly counts: boolean;
  readonly name: "retry" | "put_back" | "await_owner" | "reconcile_later" | "not_done";
};

/** RUNNING -> READY by its owner: to be tried again, as a new dispatch. */
export function requeue(node: NodeItem, again: Requeue, nowMs: number): Write[] {
  const dispatchId = dispatchIdAt(node.epoch);
  const known = certainty(node, again.certain);
  const update = nodeUpdate(node, again.name, {
    set: {
      status: "READY",
      dispatch_id: dispatchId,
      not_before_ms: again.notBeforeMs,
      ready_at_ms: nowMs,
      ...(again.counts ? {} : { attempts_used: node.attempts_used - 1 }),
      ...(node.part_done === true ? { part_done: true } : {}),
      // It is READY only once this owner, and so every one before it, is surely dead.
      ...(again.name === "await_owner" ? { owners_dead_through_epoch: node.epoch } : {}),
      ...again.record.set,
      ...known.set,
    },
    remove: [...leaseAttributes, ...again.record.remove, ...known.remove],
    conditions: ownedAt(node.epoch),
  });
  const intent: Intent = {
    messages: [{ nodeId: node.node_id, dispatchId, notBeforeMs: again.notBeforeMs, pool: node.pool }],
  };
  return [update, putOutbox(node.run_id, node.generation, `${node.epoch}/ready/${node.node_id}`, intent, nowMs)];
}

export type Ending = {
  readonly status: "SUCCEEDED" | "FAILED" | "CANCELLED" | "EXPIRED" | "SKIPPED";
  readonly effect: EffectKnown;
  /** Whether nothing is open any more. */
  readonly certain: boolean;
  readonly record: Record;
};

/** What a commit does itself to save hops; whatever it leaves out is the outbox entry's. */
export type Inline = {
  /** The run as it was read after the claim. */
  readonly run: RunItem;
  /** Keys (`pk` and `sk` joined by a line feed) that were not as expected when the commit was tried before. */
  readonly notAsExpected: ReadonlySet<string>;
};

export type EndNode = {
  readonly node: NodeItem;
  readonly guard: readonly Condition[];
  readonly ending: Ending;
  readonly dependents: readonly Dependent[];
  readonly nowMs: number;
  readonly inline?: Inline;
};

/**
 * Any state -> a terminal one. The first write is the node's own, so that its refusal can be told from the others'.
 * Dependents that wait for this node alone become READY here when it succeeded; all others are advanced by the relay
 * or the scanner, by way of the entry.
 */
export function endNode({ node, guard, ending, dependents, nowMs, inline }: EndNode): Write[] {
  const failed = ending.status !== "SUCCEEDED";
  const known = certainty(node, ending.certain);
  const own = nodeUpdate(node, `end_${ending.status.toLowerCase()}`, {
    set: { status: ending.status, effect: ending.effect, ended_at_ms: nowMs, ...ending.record.set, ...known.set },
    remove: [
      ...leaseAttributes,
      "not_before_ms",
      "ready_at_ms",
      "waiting_on",
      "doubt",
      ...ending.record.remove,
      ...known.remove,
    ],
    conditions: guard,
  });
  const freed = failed || inline === undefined ? [] : freedByCommit(node, dependents, inline, nowMs);
  const freedIds = new Set(freed.map(({ nodeId }) => nodeId));
  const isSink = dependents.length === 0;
  const runEnd = isSink && inline !== undefined ? runEndByCommit(node, failed, inline, nowMs) : undefined;
  const intent: Intent = {
    messages: freed.map(({ nodeId, pool }) => ({ nodeId, dispatchId: dispatchIdAt(0), notBeforeMs: 0, pool })),
    ended: {
      ordinal: node.ordinal,
      failed,
      advances: dependents.map(([id]) => id).filter((id) => !freedIds.has(id)),
      advanceRun: isSink && runEnd === undefined,
    },
  };
  const entry = isEmpty(intent)
    ? []
    : [putOutbox(node.run_id, node.generation, `${node.epoch}/end/${node.node_id}`, intent, nowMs)];
  return [own, ...freed.map(({ write }) => write), ...(runEnd === undefined ? [] : [runEnd]), ...entry];
}

export type Doubt = {
  /** Since when. */
  readonly atMs: number;
  /** Why nobody can tell. */
  readonly why: string;
  /** The attempt in doubt, and how often reconcile was asked. */
  readonly attempt: number;
  readonly reconciles: number;
};

/**
 * READY or RUNNING -> IN_DOUBT: an effect may or may not have happened. The node holds what depends on it, whatever the
 * deadline or a cancel say, and neither it nor its run expires until someone resolves it.
 */
export function enterDoubt(
  node: NodeItem,
  guard: readonly Condition[],
  why: string,
  record: Record,
  nowMs: number,
): Write[] {
  const doubt: Doubt = { atMs: nowMs, why, attempt: node.attempts_used, reconciles: node.reconciles_used ?? 0 };
  return [
    nodeUpdate(node, "enter_doubt", {
      set: { status: "IN_DOUBT", doubt: JSON.stringify(doubt), ...record.set },
      remove: [...leaseAttributes, "not_before_ms", "ready_at_ms", "expires_at", ...record.remove],
      conditions: guard,
    }),
    {
      op: "update",
      name: "keep_run",
      key: runKey(node.run_id),
      remove: ["expires_at"],
      conditions: [
        { attr: "generation", is: "equal", value: node.generation },
        { attr: "scan_shard", is: "exists" },
      ],
    },
  ];
}

/** A resolution is for one epoch in doubt: what comes again, or late, finds another state. */
export const inDoubtAt = (epoch: number): readonly Condition[] => [
  { attr: "status", is: "equal", value: "IN_DOUBT" },
  { attr: "epoch", is: "equal", value: epoch },
];

/**
 * IN_DOUBT -> READY: it surely had no effect, so it is run again with a fresh budget. The epoch rises by one and all up to it
 * is certain, so that a message or a commit of old changes nothing.
 */
export function resolveNotDone(node: NodeItem, set: Item, nowMs: number): Write[] {
  const epoch = node.epoch + 1;
  const dispatchId = dispatchIdAt(epoch);
  const update = nodeUpdate(node, "resolve_not_done", {
    set: {
      status: "READY",
      epoch,
      certain_through_epoch: epoch,
      dispatch_id: dispatchId,
      attempts_used: 0,
      not_before_ms: 0,
      ready_at_ms: nowMs,
      ...set,
    },
    remove: ["open_since_ms", "reconciles_used", "doubt"],
    conditions: inDoubtAt(node.epoch),
  });
  const intent: Intent = { messages: [{ nodeId: node.node_id, dispatchId, notBeforeMs: 0, pool: node.pool }] };
  return [update, putOutbox(node.run_id, node.generation, `${epoch}/ready/${node.node_id}`, intent, nowMs)];
}

export const keyText = (write: Write): string => `${write.key.pk}\n${write.key.sk}`;

function freedByCommit(
  node: NodeItem,
  dependents: readonly Dependent[],
  inline: Inline,
  nowMs: number,
): { nodeId: string; pool: string | undefined; write: Update }[] {
  return dependents
    .filter(([, alone]) => alone === 1)
    .map(([nodeId, , pool]) => ({ nodeId, pool, write: readyAlone(node, nodeId, nowMs) }))
    .filter(({ write }) => !inline.notAsExpected.has(keyText(write)))
    .slice(0, fixed.readyPerCommit);
}

const readyAttributes = (nowMs: number): Item => ({ status: "READY", ready_at_ms: nowMs, not_before_ms: 0 });

/** PENDING -> READY, in the commit of the only node that it waits for. */
const readyAlone = (parent: NodeItem, nodeId: string, nowMs: number): Update => ({
  op: "update",
  name: "ready_alone",
  key: nodeKey(parent.run_id, nodeId),
  set: readyAttributes(nowMs),
  remove: ["waiting_on"],
  conditions: [
    { attr: "status", is: "equal", value: "PENDING" },
    { attr: "generation", is: "equal", value: parent.generation },
    { attr: "waiting_on", is: "equal", value: new Set([parent.ordinal]) },
  ],
});

function runEndByCommit(node: NodeItem, failed: boolean, inline: Inline, nowMs: number): Update | undefined {
  const { run } = inline;
  if (run.waiting_on?.size !== 1 || !run.waiting_on.has(node.ordinal)) return undefined;
  const end = endRun({ ...run, dep_failed: run.dep_failed === true || failed }, nowMs, [
    { attr: "waiting_on", is: "equal", value: new Set([node.ordinal]) },
  ]);
  return inline.notAsExpected.has(keyText(end)) ? undefined : end;
}

/** PENDING stays PENDING: the ends of some that it waits for are taken out of its set, as often as they are processed. */
export const advance = (
  runId: string,
  generation: string,
  nodeId: string,
  ordinals: ReadonlySet<number>,
  failed: boolean,
): Update => ({
  op: "update",
  name: "advance",
  key: nodeKey(runId, nodeId),
  ...(failed ? { set: { dep_failed: true } } : {}),
  deleteFromSet: { waiting_on: ordinals },
  conditions: [
    { attr: "status", is: "equal", value: "PENDING" },
    { attr: "generation", is: "equal", value: generation },
  ],
});

const nothingLeft: Condition = { attr: "waiting_on", is: "missing" };

/** PENDING -> READY, by whoever finds that it waits for nothing any more. */
export const makeReady = (node: NodeItem, nowMs: number): Update =>
  nodeUpdate(node, "make_ready", {
    set: readyAttributes(nowMs),
    conditions: [
      { attr: "status", is: "equal", value: "PENDING" },
      { attr: "generation", is: "equal", value: node.generation },
      nothingLeft,
    ],
  });

/** PENDING -> SKIPPED: something that it needed did not succeed, and all that it waited for has ended (I15). */
export const skip = (node: NodeItem, dependents: readonly Dependent[], nowMs: number): Write[] =>
  endNode({
    node,
    guard: [
      { attr: "status", is: "equal", value: "PENDING" },
      { attr: "generation", is: "equal", value: node.generation },
      { attr: "dep_failed", is: "equal", value: true },
      nothingLeft,
    ],
    ending: { status: "SKIPPED", effect: "none", certain: true, record: noRecord },
    dependents,
    nowMs,
  });

/** RUN: the ends of some of its sinks are taken out of its set. */
export const advanceRun = (
  runId: string,
  generation: string,
  ordinals: ReadonlySet<number>,
  failed: boolean,
): Update => ({
  op: "update",
  name: "advance_run",
  key: runKey(runId),
  ...(failed ? { set: { dep_failed: true } } : {}),
  deleteFromSet: { waiting_on: ordinals },
  conditions: [
    { attr: "generation", is: "equal", value: generation },
    { attr: "scan_shard", is: "exists" },
  ],
});

/** How a run ends whose last node has ended. */
export function runResult(run: RunItem, nowMs: number): RunStatus {
  if (run.status === "CANCELLING") return "CANCELLED";
  if (run.dep_failed !== true) return "SUCCEEDED";
  return nowMs >= run.deadline_at_ms ? "EXPIRED" : "FAILED";
}

/** RUN: RUNNING or CANCELLING -> its end, on condition of the status that the result was computed from. */
export const endRun = (run: RunItem, nowMs: number, left: readonly Condition[] = [nothingLeft]): Update => ({
  op: "update",
  name: "end_run",
  key: runKey(run.run_id),
  set: {
    status: runResult(run, nowMs),
    ended_at_ms: nowMs,
    ...(run.dep_failed === true ? { dep_failed: true } : {}),
    // A doubt had taken its time to live away.
    ...(run.expires_at === undefined ? { expires_at: Math.ceil((nowMs + (run.retention_ms ?? 0)) / 1_000) } : {}),
  },
  // Out of the sparse index: a run is in it while it lives.
  remove: ["waiting_on", "scan_shard", "scan_at_ms"],
  conditions: [
    { attr: "status", is: "equal", value: run.status },
    { attr: "generation", is: "equal", value: run.generation },
    ...left,
  ],
});

/** RUN: RUNNING -> CANCELLING, and the scanner looks at it at once. */
export const requestCancel = (runId: string, commandId: string, reason: string | undefined, nowMs: number): Update => ({
  op: "update",
  name: "request_cancel",
  key: runKey(runId),
  set: {
    status: "CANCELLING",
    cancel_command_id: commandId,
    scan_at_ms: nowMs,
    ...(reason === undefined ? {} : { cancel_reason: reason }),
  },
  conditions: [readsVersion, { attr: "status", is: "equal", value: "RUNNING" }],
});

/** RUN: the scanner looks at it at once, since a quiet one may not be looked at for an hour. */
export const wakeRun = (node: Pick<NodeItem, "run_id" | "generation">, nowMs: number): Update => ({
  op: "update",
  name: "wake_run",
  key: runKey(node.run_id),
  set: { scan_at_ms: nowMs },
  conditions: [
    { attr: "generation", is: "equal", value: node.generation },
    { attr: "scan_shard", is: "exists" },
  ],
});

/** RUN: the scanner's next look, unless a command or another pass has moved it meanwhile. */
export const moveScan = (run: RunItem, nextAtMs: number, lookedAtMs: number): Update => ({
  op: "update",
  name: "move_scan",
  key: runKey(run.run_id),
  set: { scan_at_ms: nextAtMs, scanned_at_ms: lookedAtMs },
  conditions: [
    { attr: "generation", is: "equal", value: run.generation },
    { attr: "scan_at_ms", is: "equal", value: run.scan_at_ms ?? 0 },
  ],
});

const journalBase = (node: NodeItem): Item => ({
  kind: "journal",
  v: 1,
  generation: node.generation,
  epoch: node.epoch,
  ...(node.expires_at === undefined ? {} : { expires_at: node.expires_at }),
});

/** JOURNAL: made by the first owner together with its first result, or by a later one before its first step. */
export const createJournal = (node: NodeItem, steps: Item): Put => ({
  op: "put",
  name: "create_journal",
  key: journalKey(node.run_id, node.node_id),
  item: { ...journalBase(node), ...steps },
  conditions: [
    { anyOf: [[{ attr: "pk", is: "missing" }], [{ attr: "generation", is: "notEqual", value: node.generation }]] },
  ],
});

/** JOURNAL: a later owner raises its epoch before its first step, so that a former owner can remember nothing any more. */
export const raiseJournal = (node: NodeItem): Update => ({
  op: "update",
  name: "raise_journal",
  key: journalKey(node.run_id, node.node_id),
  set: { epoch: node.epoch },
  conditions: [
    { attr: "generation", is: "equal", value: node.generation },
    { attr: "epoch", is: "below", value: node.epoch },
  ],
});

/** JOURNAL: one step's result, under the epoch of its owner. */
export const rememberStep = (node: NodeItem, step: Item): Update => ({
  op: "update",
  name: "remember_step",
  key: journalKey(node.run_id, node.node_id),
  set: step,
  conditions: [
    { attr: "generation", is: "equal", value: node.generation },
    { attr: "epoch", is: "equal", value: node.epoch },
  ],
});

/** Any item of a run in doubt: it lives on while someone may still resolve the doubt. Nobody else writes its time to live. */
export const prolong = (key: Key, generation: string, expiresAt: number): Update => ({
  op: "update",
  name: "prolong",
  key,
  set: { expires_at: expiresAt },
  conditions: [
    { attr: "generation", is: "equal", value: generation },
    { attr: "expires_at", is: "below", value: expiresAt },
  ],
});

/** A value that is too large for its node, written under its epoch before the commit that points to it. */
export const putBeside = (
  name: string,
  key: Put["key"],
  node: Pick<NodeItem, "generation" | "expires_at">,
  value: string,
): Put => ({
  op: "put",
  name,
  key,
  item: {
    kind: "beside",
    v: 1,
    generation: node.generation,
    value,
    ...(node.expires_at === undefined ? {} : { expires_at: node.expires_at }),
  },
  conditions: [
    {
      anyOf: [
        [{ attr: "pk", is: "missing" }],
        [{ attr: "generation", is: "notEqual", value: node.generation }],
        [{ attr: "value", is: "equal", value }],
      ],
    },
  ],
});
