/** Known mistakes: every condition of every write left out, one at a time, and some made by hand. Each must be caught. */
import type { Condition, Item, Write } from "../../shared/write.ts";
import { noFaults } from "../../testing/faults.ts";
import type { Sabotage } from "./engine.ts";
import { type Scenario, scenarios } from "./scenarios.ts";
import { runSchedule } from "./schedule.ts";

export type Mutant = {
  readonly name: string;
  readonly sabotage: Sabotage;
  /** Where the write is made at all; everywhere when undefined. */
  readonly scenarios?: readonly Scenario[];
};

/** Where a condition stands: its number, or for alternatives also the number of the alternative and of the one in it. */
type Path = readonly number[];

function pathsOf(conditions: readonly Condition[]): readonly Path[] {
  return conditions.flatMap((condition, index): Path[] => {
    if (!("anyOf" in condition)) return [[index]];
    // An alternative of one condition without it always holds, and so does the whole: that mutant is there already.
    const inner = condition.anyOf.flatMap((alternative, branch) =>
      alternative.length === 1 ? [] : pathsOf(alternative).map((path) => [index, branch, ...path]),
    );
    return [[index], ...inner];
  });
}

function without(conditions: readonly Condition[], path: Path): readonly Condition[] {
  const [index, branch, ...rest] = path;
  if (branch === undefined) return conditions.filter((_, at) => at !== index);
  return conditions.map((condition, at) => {
    if (at !== index || !("anyOf" in condition)) return condition;
    return {
      anyOf: condition.anyOf.map((alternative, number) =>
        number === branch ? without(alternative, rest) : alternative,
      ),
    };
  });
}

const textOf = (condition: Condition): string => {
  if ("anyOf" in condition)
    return `any of ${condition.anyOf.map((all) => `(${all.map(textOf).join(" and ")})`).join(" or ")}`;
  return `${condition.attr} ${condition.is}`;
};

function conditionAt(conditions: readonly Condition[], [index = 0, branch, ...rest]: Path): Condition | undefined {
  const condition = conditions[index];
  if (branch === undefined || condition === undefined || !("anyOf" in condition)) return condition;
  return conditionAt(condition.anyOf[branch] ?? [], rest);
}

/** What two writes of one name share: the texts of their conditions. An ending by a claim has other guards than a commit's. */
const shapeOf = (write: Write): string => `${write.name}: ${write.conditions.map(textOf).join(", ")}`;

type Made = { readonly write: Write; readonly scenarios: Set<Scenario> };

/** Every write that the undisturbed scenarios and a few disturbed ones make, by name and shape. */
async function writesMade(): Promise<ReadonlyMap<string, Made>> {
  const found = new Map<string, Made>();
  for (const scenario of scenarios) {
    const sabotage: Sabotage = {
      write: (write) => {
        const made = found.get(shapeOf(write)) ?? { write, scenarios: new Set() };
        made.scenarios.add(scenario);
        found.set(shapeOf(write), made);
        return write;
      },
    };
    await runSchedule({ scenario, seed: 1, choose: noFaults, sabotage });
    for (let index = 0; index < 25; index++) {
      await runSchedule({
        scenario,
        seed: 1,
        choose: (call) => (call.index === index ? { kind: "crash_after", ms: 0 } : undefined),
        sabotage,
      });
    }
  }
  return found;
}

async function droppedConditions(): Promise<readonly Mutant[]> {
  const mutants: Mutant[] = [];
  for (const [shape, { write: example, scenarios: makers }] of await writesMade()) {
    for (const path of pathsOf(example.conditions)) {
      const dropped = conditionAt(example.conditions, path);
      mutants.push({
        scenarios: [...makers],
        name: `${example.name} without [${path.join(".")}] ${dropped === undefined ? "" : textOf(dropped)}`,
        sabotage: {
          write: (write) =>
            shapeOf(write) === shape ? { ...write, conditions: without(write.conditions, path) } : write,
        },
      });
    }
  }
  return mutants;
}

const firstMember = (current: Item | undefined): number | undefined => {
  const set = current?.waiting_on;
  return set instanceof Set ? (set.values().next().value as number | undefined) : undefined;
};

/** The list in JSON text that an item holds, each of its members cut to so many. */
const cutTo = (count: number, text: unknown): string =>
  JSON.stringify((JSON.parse(String(text)) as readonly unknown[][]).map((member) => member.slice(0, count)));

const byHand: readonly Mutant[] = [
  { name: "message acknowledged before the commit", sabotage: { acknowledgesFirst: true } },
  { name: "outbox entry outside the transaction", sabotage: { outboxApart: true } },
  { name: "claim for a whole batch ahead", sabotage: { claimsBatch: true } },
  {
    name: "counter instead of a set in joins",
    sabotage: {
      write: (write, current) => {
        const member = firstMember(current);
        const counts =
          (write.name === "advance" || write.name === "advance_run") && write.op === "update" && member !== undefined;
        return counts ? { ...write, deleteFromSet: { waiting_on: new Set([member]) } } : write;
      },
    },
  },
  {
    name: "epoch not raised by the claim",
    sabotage: {
      write: (write) =>
        write.name === "claim" && write.op === "update" ? { ...write, add: { attempts_used: 1 } } : write,
    },
  },
  {
    name: "a fresh operation id for each attempt",
    sabotage: { context: (context) => ({ ...context, operationId: `${context.operationId}-${context.fencingToken}` }) },
  },
  {
    name: "scanner that trusts what it read: its writes carry no conditions",
    sabotage: { write: (write, _current, by) => (by === "scanner" ? { ...write, conditions: [] } : write) },
  },
  {
    name: "take-over of a careful tool without waiting until its owner is surely dead",
    sabotage: {
      write: (write) => {
        const sets = write.op === "update" && (write.name === "claim" || write.name === "claim_to_reconcile");
        return sets ? { ...write, set: { ...write.set, owner_dead_at_ms: 0 } } : write;
      },
    },
  },
  {
    name: "outbox entries forget the pools of their messages",
    sabotage: {
      write: (write) =>
        write.op === "put" && write.name === "outbox"
          ? { ...write, item: { ...write.item, messages: cutTo(3, write.item.messages) } }
          : write,
    },
  },
  {
    name: "lists of dependents forget the pools of those whom a commit makes READY",
    sabotage: {
      write: (write) =>
        write.op === "put" && write.name === "create_node" && write.item.dependents !== undefined
          ? { ...write, item: { ...write.item, dependents: cutTo(2, write.item.dependents) } }
          : write,
    },
  },
  {
    name: "an unknown error taken for a certain one",
    sabotage: {
      write: (write) =>
        write.op === "update" && write.name === "retry" && typeof write.set?.dispatch_id === "string"
          ? {
              ...write,
              set: { ...write.set, certain_through_epoch: Number(write.set.dispatch_id.slice(2)) },
              remove: [...(write.remove ?? []), "open_since_ms"],
            }
          : write,
    },
  },
  {
    name: "a former owner remembers steps: the journal's epoch is not raised",
    sabotage: {
      write: (write) =>
        write.op === "update" && write.name === "remember_step" ? { ...write, conditions: [] } : write,
    },
  },
  {
    name: "busy read as refused",
    sabotage: {
      writeAnswer: (answer) => (answer.is === "busy" ? { is: "refused", old: undefined } : answer),
      transactAnswer: (answer, writes) =>
        answer.is === "busy"
          ? { is: "refused", refusals: writes.map(() => ({ is: "refused", old: undefined })) }
          : answer,
    },
  },
  {
    name: "lost reply read as failure",
    sabotage: {
      writeAnswer: (answer) => (answer.is === "unknown" ? { is: "refused", old: undefined } : answer),
      transactAnswer: (answer, writes) =>
        answer.is === "unknown"
          ? { is: "refused", refusals: writes.map(() => ({ is: "refused", old: undefined })) }
          : answer,
    },
  },
];

export const allMutants = async (): Promise<readonly Mutant[]> => [...byHand, ...(await droppedConditions())];
