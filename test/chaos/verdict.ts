/**
 * Judges a run by what is left of it: its items and the provider's ledger. The same invariants, by the same names, as the
 * simulation's checker asks at the end of a schedule; what only a witness of each write can see is the simulation's to find.
 */
import { nodePrefix, operationIdOf, runKey, runPartition } from "../../shared/keys.ts";
import {
  isLiving,
  isTerminal,
  type NodeItem,
  nodeItemSchema,
  type RunItem,
  readItem,
  runItemSchema,
} from "../../shared/model.ts";
import { owed } from "../../shared/owed.ts";
import type { ProviderCall } from "../support/provider.ts";
import type { StagedStack } from "./stage.ts";

export type LedgerCall = Pick<ProviderCall, "atMs" | "operationId" | "fencingToken" | "nodeId">;

/** The ledger of one run. */
export type RunLedger = {
  /** In their order. */
  readonly calls: readonly LedgerCall[];
  /** How many effects each operation id has had. */
  readonly effects: ReadonlyMap<string, number>;
};

export type Ended = {
  readonly run: RunItem;
  readonly nodes: readonly NodeItem[];
  /** What each node depends on. */
  readonly parents: ReadonlyMap<string, readonly string[]>;
  readonly ledger: RunLedger;
};

/** Tools of the tests that never have an effect, or never call in an attempt whose effect is known. */
const withoutEffect: ReadonlySet<string> = new Set(["failing"]);

const runIdOf = (call: ProviderCall): unknown =>
  typeof call.body === "object" && call.body !== null ? Reflect.get(call.body, "run_id") : undefined;

/** Ledgers of all runs, in one walk over the provider's books. */
export function ledgersOf(provider: StagedStack["provider"]): (runId: string) => RunLedger {
  const bySequence = new Map(provider.calls.map((call) => [call.sequence, call]));
  const books = new Map<unknown, { calls: ProviderCall[]; effects: Map<string, number> }>();
  const bookOf = (call: ProviderCall) => {
    const runId = runIdOf(call);
    const known = books.get(runId) ?? { calls: [], effects: new Map<string, number>() };
    books.set(runId, known);
    return known;
  };
  for (const call of provider.calls) bookOf(call).calls.push(call);
  for (const { sequence, operationId = "" } of provider.effects) {
    const call = bySequence.get(sequence);
    if (call === undefined) throw new Error(`effect of call ${sequence}, which the ledger does not have`);
    const { effects } = bookOf(call);
    effects.set(operationId, (effects.get(operationId) ?? 0) + 1);
  }
  return (runId) => books.get(runId) ?? { calls: [], effects: new Map() };
}

/** @throws when there is no such run, or one that cannot be read. */
export async function readEnded(stack: StagedStack, runId: string, ledger: RunLedger): Promise<Ended> {
  const view = await stack.client.getRun(runId);
  if (view === undefined) throw new Error(`there is no run ${runId}`);
  const items = await stack.table.query(runPartition(runId), nodePrefix);
  return {
    run: readItem(runItemSchema, await stack.table.get(runKey(runId))),
    nodes: items.map((item) => readItem(nodeItemSchema, item)),
    parents: new Map(view.nodes.map(({ nodeId, dependsOn }) => [nodeId, dependsOn])),
    ledger,
  };
}

/** @returns what is wrong, each with the invariant's name first; nothing where all is right. */
export function verdictOn(stack: Pick<StagedStack, "namespace" | "limits">, ended: Ended): readonly string[] {
  const { run, nodes, parents, ledger } = ended;
  const faults: string[] = [];
  const fail = (invariant: string, what: string): void => void faults.push(`${invariant}: ${what}`);
  if (isLiving(run.status)) {
    const states = nodes.map((node) => `${node.node_id}:${node.status}`).join(" ");
    fail("I8", `run ${run.run_id} is stuck in ${run.status}: ${states}`);
    return faults;
  }
  judgeRun(stack, ended, fail);
  const byId = new Map(nodes.map((node) => [node.node_id, node]));
  for (const [nodeId, dependsOn] of parents) {
    const node = byId.get(nodeId);
    if (node === undefined) fail("I8", `node ${nodeId} has no item`);
    else {
      const calls = ledger.calls.filter((call) => call.nodeId === nodeId);
      judgeNode(stack.namespace, run, node, calls, ledger, fail);
      judgeOrder(
        node,
        dependsOn.flatMap((id) => byId.get(id) ?? []),
        calls,
        fail,
      );
    }
  }
  const known = new Set(nodes.map((node) => node.node_id));
  for (const call of ledger.calls)
    if (!known.has(call.nodeId ?? "")) fail("I5", `the ledger has a call of ${call.nodeId}, which is no node`);
  if (ledger.effects.size > nodes.length) fail("effect", `${ledger.effects.size} effects of ${nodes.length} nodes`);
  return faults;
}

type Fail = (invariant: string, what: string) => void;

function judgeRun(stack: Pick<StagedStack, "limits">, { run, nodes }: Ended, fail: Fail): void {
  const living = nodes.filter((node) => !isTerminal(node.status)).map((node) => node.node_id);
  if (living.length > 0) fail("I15", `run ended ${run.status} while ${living.join()} lives`);
  if (run.node_count !== nodes.length) fail("I15", `${nodes.length} of ${run.node_count} nodes are there`);
  const allSucceeded = nodes.every((node) => node.status === "SUCCEEDED");
  if (run.status === "SUCCEEDED" && !allSucceeded) fail("I15", "run SUCCEEDED though not all of its nodes did");
  if ((run.status === "FAILED" || run.status === "EXPIRED") && allSucceeded)
    fail("I15", `run ${run.status} though all of its nodes succeeded`);
  if (run.scan_shard !== undefined || run.scan_at_ms !== undefined) fail("I7", "an ended run is still in the index");
  if (run.waiting_on !== undefined) fail("I7", `an ended run waits for ${[...run.waiting_on].join()}`);
  const seen = nodes.map((node) => ({ node, dependents: [] }));
  const { messages, endRun } = owed(run, seen, Date.now(), stack.limits);
  if (messages.length > 0 || endRun) fail("I7", "something is owed to a run that has ended");
}

function judgeNode(
  namespace: string,
  run: RunItem,
  node: NodeItem,
  calls: readonly LedgerCall[],
  ledger: RunLedger,
  fail: Fail,
): void {
  const at = `node ${node.node_id} of ${run.run_id}`;
  const operationId = operationIdOf(namespace, run.run_id, run.generation, node.node_id);
  if (calls.some((call) => call.operationId !== operationId)) fail("I5", `${at} was called under another operation id`);
  const made = ledger.effects.get(operationId) ?? 0;
  if (made > 1) fail("effect", `${at} had ${made} effects`);
  if (node.effect === "none" && made > 0)
    fail("I14", `${at} ended ${node.status} with effect none, and the ledger has one`);
  if (node.effect === "done" && made === 0 && !withoutEffect.has(node.tool))
    fail("I14", `${at} claims an effect that the ledger does not have`);
  if (node.status === "SUCCEEDED" && node.effect !== "done") fail("I14", `${at} SUCCEEDED with effect ${node.effect}`);
  if (node.status === "SKIPPED" && calls.length > 0) fail("I15", `${at} was SKIPPED and called`);
  if (node.waiting_on !== undefined && node.status !== "SKIPPED") fail("I7", `${at} ended and waits for others`);
  if (node.attempts_used > node.max_attempts) fail("I6", `${at} used ${node.attempts_used} of ${node.max_attempts}`);
  if (node.epoch < node.attempts_used) fail("I3", `${at} used ${node.attempts_used} attempts in ${node.epoch} epochs`);
  const tokens = calls.map((call) => call.fencingToken ?? 0);
  if (new Set(tokens).size !== tokens.length) fail("I3", `${at} was called twice under one fencing token: ${tokens}`);
  if (tokens.some((token) => token < 1 || token > node.epoch))
    fail("I3", `${at} is at ${node.epoch}, called at ${tokens}`);
}

/** A parent's end is noted before it is committed, by the clock that the ledger has too. */
function judgeOrder(node: NodeItem, parents: readonly NodeItem[], calls: readonly LedgerCall[], fail: Fail): void {
  const [first] = calls;
  if (first === undefined) return;
  for (const parent of parents) {
    if (parent.status !== "SUCCEEDED")
      fail("I11", `${node.node_id} was called though ${parent.node_id} is ${parent.status}`);
    if (first.atMs < (parent.ended_at_ms ?? Number.POSITIVE_INFINITY))
      fail("I11", `${node.node_id} was called before ${parent.node_id} had ended`);
  }
}
