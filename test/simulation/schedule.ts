/** One schedule from its start to its verdict. */

import { operationIdOf } from "../../shared/keys.ts";
import type { Limits } from "../../shared/limits.ts";
import { isLiving, nodeItemSchema, type RunStatus, startRunSchema } from "../../shared/model.ts";
import type { Call, ChooseFault, Fault } from "../../testing/faults.ts";
import { calmWeather, type Weather } from "../../testing/weather.ts";
import type { AppliedWrites } from "../../testing/witness.ts";
import { checker, type Violation } from "./checker.ts";
import { type Engine, engine, type Sabotage } from "./engine.ts";
import { runId, type Scenario } from "./scenarios.ts";

export type Struck = Call & Fault;

export type Verdict = {
  readonly violations: readonly Violation[];
  readonly struck: readonly Struck[];
  readonly calls: number;
  readonly status: RunStatus | undefined;
  readonly tookMs: number;
  /** States that nodes went through, as `status/epoch/effect`. */
  readonly states: ReadonlySet<string>;
  /** Calls of the tool by a former owner that was still alive. */
  readonly lateCalls: number;
};

export type Schedule = {
  readonly scenario: Scenario;
  readonly seed: number;
  readonly choose: ChooseFault;
  readonly weather?: Weather;
  readonly limits?: Partial<Limits>;
  readonly sabotage?: Sabotage;
};

/** Far beyond the longest way of healing: a message that hides for 30 minutes, after a deadline of a day. */
const patienceMs = 30 * 3_600_000;

export async function runSchedule({
  scenario,
  seed,
  choose,
  weather = calmWeather,
  limits,
  sabotage,
}: Schedule): Promise<Verdict> {
  const struck: Struck[] = [];
  const states = new Set<string>();
  const check = checker(scenario);
  const made = engine({
    seed,
    choose,
    weather,
    ...(limits === undefined ? {} : { limits }),
    ...(sabotage === undefined ? {} : { sabotage }),
    ...(scenario.undeployed === undefined ? {} : { undeployed: scenario.undeployed }),
    ...(scenario.bucketDownForMs === undefined ? {} : { bucketDownForMs: scenario.bucketDownForMs }),
    witness: {
      ...check.witness,
      applied: (applied) => {
        check.witness.applied?.(applied);
        if (scenario.resolver !== undefined) askAboutDoubts(made, applied, scenario.resolver);
        if (scenario.unreadableForMs !== undefined) makeUnreadable(made, applied, scenario.unreadableForMs);
        for (const { new: item } of applied.writes)
          if (item.kind === "node") states.add(`${item.status}/${item.epoch}/${item.effect ?? ""}`);
      },
      fault: (fault, call) => struck.push({ ...call, ...fault }),
    },
  });
  check.watch(made);
  const start = {
    type: "start_run",
    command_id: "start",
    run_id: runId,
    nodes: scenario.nodes,
    ...(scenario.deadlineMs === undefined ? {} : { deadline_ms: scenario.deadlineMs }),
  };
  if (scenario.madeAtOnce === true) made.startAtOnce(startRunSchema.parse(start));
  else made.commands.put(JSON.stringify(start), 0);
  for (const { afterMs, body } of scenario.commands ?? []) made.commands.put(JSON.stringify(body), afterMs);
  for (const body of scenario.strayMessages ?? []) made.dispatches.put(body, 0);
  made.startScanner();
  const startedAtMs = made.clockwork.nowMs();

  let status: RunStatus | undefined;
  const isOver = (): boolean => {
    if (made.commands.living().length > 0 || made.dispatches.living().length > 0 || made.atWork() > 0) return false;
    if (scenario.refused === true) return true;
    status = statusOf(made.items());
    return status !== undefined && !isLiving(status);
  };
  await made.run(isOver, patienceMs);
  status = statusOf(made.items());
  check.atEnd();
  return {
    violations: check.violations,
    struck,
    calls: made.tally.calls,
    status,
    tookMs: made.clockwork.nowMs() - startedAtMs,
    states,
    lateCalls: made.outside.ledger.calls.filter((call) => call.late).length,
  };
}

/** What a start has written looks for a while as a later version of this software would write it. */
function makeUnreadable(made: Engine, { writes }: AppliedWrites, forMs: number): void {
  for (const { write } of writes.filter(({ write: { name } }) => name === "create_node" || name === "start_run")) {
    const setVersion = (v: number): void =>
      made.byAnotherHand({ op: "update", name: "by_another_hand", key: write.key, set: { v }, conditions: [] });
    setVersion(2);
    made.clockwork.at(made.clockwork.nowMs() + forMs, () => setVersion(1));
  }
}

/** Someone looks into each doubt a minute later, and says it twice: the second time the state has moved on. */
function askAboutDoubts(made: Engine, applied: AppliedWrites, resolver: NonNullable<Scenario["resolver"]>): void {
  for (const { write, new: item } of applied.writes) {
    if (write.name !== "enter_doubt") continue;
    const node = nodeItemSchema.parse(item);
    // Of two minds: two people say different things at once, and whoever is first is right.
    const said =
      resolver === "two minds"
        ? ([
            [60_000, "truth"],
            [60_000, "failed"],
          ] as const)
        : ([
            [60_000, resolver],
            [90_000, resolver],
          ] as const);
    for (const [afterMs, what] of said) {
      const body = (): object => {
        const operationId = operationIdOf("simulation", node.run_id, node.generation, node.node_id);
        const isDone = made.outside.ledger.effects.has(operationId);
        const answer =
          what === "failed"
            ? { resolution: "failed" }
            : isDone
              ? { resolution: "succeeded", output: { acted: node.node_id } }
              : { resolution: "not_done" };
        const { run_id, node_id, epoch } = node;
        return {
          type: "resolve_node",
          command_id: `resolve-${node_id}-${epoch}-${afterMs}-${what}`,
          run_id,
          node_id,
          epoch,
          by: "someone",
          why: "looked into the ledger",
          ...answer,
        };
      };
      made.clockwork.at(made.clockwork.nowMs() + afterMs, () => made.commands.put(JSON.stringify(body()), 0));
    }
  }
}

function statusOf(items: Iterable<{ readonly [name: string]: unknown }>): RunStatus | undefined {
  for (const item of items) if (item.kind === "run") return item.status as RunStatus;
  return undefined;
}
