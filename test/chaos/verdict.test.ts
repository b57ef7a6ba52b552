/** The verdict is judged itself: each fault that it must find is put into a run that is right. */
import { expect, it } from "vitest";
import { operationIdOf } from "../../shared/keys.ts";
import { limitsWith } from "../../shared/limits.ts";
import { type NodeItem, nodeItemSchema, type RunItem, runItemSchema } from "../../shared/model.ts";
import { type Ended, type LedgerCall, verdictOn } from "./verdict.ts";

const stack = { namespace: "verdict", limits: limitsWith() };
const runId = "run";
const generation = "g";
const common = { pk: "RUN#run", v: 1, run_id: runId, generation, deadline_at_ms: 9_000, expires_at: 10 };

const node = (id: string, ordinal: number, dependents: string, more: Partial<NodeItem> = {}): NodeItem =>
  nodeItemSchema.parse({
    ...common,
    sk: `NODE#${id}`,
    kind: "node",
    node_id: id,
    ordinal,
    tool: "ledger",
    status: "SUCCEEDED",
    dispatch_id: "d-0",
    epoch: 1,
    attempts_used: 1,
    max_attempts: 5,
    certain_through_epoch: 1,
    effect: "done",
    dependents,
    ended_at_ms: 1_000 + ordinal * 1_000,
    ...more,
  });

const call = (nodeId: string, atMs: number, more: Partial<LedgerCall> = {}): LedgerCall => ({
  atMs,
  operationId: operationIdOf(stack.namespace, runId, generation, nodeId),
  fencingToken: 1,
  nodeId,
  ...more,
});

type Bent = {
  readonly run?: Partial<RunItem>;
  readonly first?: Partial<NodeItem>;
  readonly second?: Partial<NodeItem>;
  readonly calls?: readonly LedgerCall[];
  readonly effects?: readonly (readonly [nodeId: string, made: number])[];
};

/** Two nodes in a chain that have succeeded, bent as told. */
function endedRun({ run: bentRun, first, second, calls, effects }: Bent = {}): Ended {
  const run = runItemSchema.parse({
    ...common,
    sk: "RUN",
    kind: "run",
    status: "SUCCEEDED",
    content_hash: "h",
    node_count: 2,
    created_at_ms: 500,
    scanned_at_ms: 500,
    ended_at_ms: 2_000,
    ...bentRun,
  });
  const nodes = [node("first", 0, '[["second",1]]', first), node("second", 1, "[]", second)];
  const made = effects ?? [
    ["first", 1],
    ["second", 1],
  ];
  return {
    run,
    nodes,
    parents: new Map([
      ["first", []],
      ["second", ["first"]],
    ]),
    ledger: {
      calls: calls ?? [call("first", 900), call("second", 1_500)],
      effects: new Map(made.map(([id, times]) => [operationIdOf(stack.namespace, runId, generation, id), times])),
    },
  };
}

it("a run that is right has no fault", () => {
  expect(verdictOn(stack, endedRun())).toEqual([]);
});

it.each<readonly [string, Bent, string]>([
  ["lives on", { run: { status: "RUNNING" } }, "I8"],
  ["has ended while a node lives", { second: { status: "READY" } }, "I15"],
  ["lost a node", { run: { node_count: 3 } }, "I15"],
  ["succeeded with a failed node", { second: { status: "FAILED", effect: "none" }, effects: [["first", 1]] }, "I15"],
  ["failed though all succeeded", { run: { status: "FAILED" } }, "I15"],
  ["is left in the index", { run: { scan_shard: 1, scan_at_ms: 1 } }, "I7"],
  ["still waits for a sink", { run: { waiting_on: new Set([1]) } }, "I7"],
  [
    "has an effect twice",
    {
      effects: [
        ["first", 2],
        ["second", 1],
      ],
    },
    "effect",
  ],
  ["succeeded without an effect", { effects: [["second", 1]] }, "I14"],
  ["says none of an effect that was", { second: { status: "FAILED", effect: "none" } }, "I14"],
  ["was called under another operation id", { calls: [call("first", 900, { operationId: "x" })] }, "I5"],
  ["was called twice under one token", { calls: [call("first", 900), call("first", 950)] }, "I3"],
  ["was called under a token it never had", { calls: [call("first", 900, { fencingToken: 2 })] }, "I3"],
  ["was tried too often", { first: { attempts_used: 6, epoch: 6 } }, "I6"],
  ["began before what it needs had ended", { calls: [call("first", 900), call("second", 999)] }, "I11"],
  ["began though what it needs failed", { first: { status: "FAILED", effect: "done" } }, "I11"],
  ["was skipped and called", { second: { status: "SKIPPED" } }, "I15"],
])("a run that %s is found out", (_, bent, invariant) => {
  expect(verdictOn(stack, endedRun(bent)).map((fault) => fault.split(":")[0])).toContain(invariant);
});
