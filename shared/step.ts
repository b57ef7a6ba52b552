/** Remembered steps inside one node: what has a result is not run again, and what may have run is handled by its class. */

import { describeError, type ErrorRecord } from "./errors.ts";
import { journalItemSchema, type RememberedStep, stepAttribute } from "./journal.ts";
import { jsonFault } from "./json.ts";
import { journalKey, stepOperationIdOf } from "./keys.ts";
import { fixed } from "./limits.ts";
import { idSchema, type NodeItem, readItem } from "./model.ts";
import { settle } from "./settle.ts";
import type { EffectClass, Reconciled, RunStep, StepContext, StepOptions } from "./tool.ts";
import { createJournal, hasEarlierOpenAttempt, raiseJournal, rememberStep } from "./transitions.ts";
import type { WorkerWorld } from "./worker-world.ts";
import type { Item } from "./write.ts";

export type Steps = {
  readonly step: RunStep;
  /** Resolves when no step is running, also of those that the tool did not wait for. */
  allEnded(): Promise<void>;
  /** From here on nothing is run or remembered any more. */
  end(): void;
  /** A step that may have acted and must not run twice: the node is in doubt, whatever the tool made of it. */
  doubt(): string | undefined;
  /** A step must know what a former owner did, and that one may be alive still. */
  tooEarly(): boolean;
  /** A step that changes something has been remembered, now or in an earlier attempt. */
  partDone(): boolean;
  /** How this attempt, whose tool has returned, asked for other steps than the one before. */
  strayed(): Promise<ErrorRecord | undefined>;
};

/** An error with a code, which is stored with the attempt that it ends. */
const stepError = (code: string, message: string): Error =>
  Object.assign(new Error(message), { name: "StepError", code });

type Journal = ReadonlyMap<number, RememberedStep>;

export function stepsOf(world: WorkerWorld, node: NodeItem, operationId: string, signal: AbortSignal): Steps {
  const asked = new Set<string>();
  let opened: Promise<Journal> | undefined;
  let journal: Journal = new Map();
  let isMade = node.epoch > 1;
  let ended = false;
  let doubt: string | undefined;
  let tooEarly = false;
  let partDone = false;
  let strayed: ErrorRecord | undefined;

  /** Once in an attempt, before its first step; a first attempt has nothing to replay and nobody to fence off. */
  const open = async (): Promise<Journal> => {
    opened ??= node.epoch > 1 ? openJournal(world, node) : Promise.resolve(journal);
    journal = await opened;
    return journal;
  };

  const remember = async (place: number, name: string, value: string | undefined): Promise<void> => {
    if (ended) throw stepError("attempt_ended", `step ${JSON.stringify(name)} came to its end after its attempt had`);
    const step: Item = { [stepAttribute(place)]: JSON.stringify({ name, value }) };
    await writeStep(world, node, step, () => isMade);
    isMade = true;
  };

  const underWay = new Set<Promise<unknown>>();
  const step: RunStep = (name, run, options) => {
    const running = runStep(name, run, options);
    // A tool may forget to wait for a step, and nobody hears of its error then: its end is waited for all the same.
    const ended: Promise<void> = running.then(
      () => void underWay.delete(ended),
      () => void underWay.delete(ended),
    );
    underWay.add(ended);
    return running;
  };

  const runStep = async <Value>(
    name: string,
    run: (context: StepContext) => Promise<Value>,
    options: StepOptions<Value> = {},
  ): Promise<Value> => {
    // The place is taken before anything is awaited, so that steps side by side keep the order in which they are asked for.
    const place = asked.size;
    if (ended)
      throw stepError("attempt_ended", `step ${JSON.stringify(name)} was asked for after its attempt had ended`);
    checkStep(name, options, asked);
    asked.add(name);
    const remembered = await open().then((found) => {
      try {
        return rememberedAt(found, place, name);
      } catch (error) {
        // Whatever the tool makes of it: what it returns then does not stand on what is remembered.
        strayed ??= describeError(error);
        throw error;
      }
    });
    const changes = options.effect !== "read_only";
    if (remembered !== undefined) {
      partDone ||= changes;
      return decode<Value>(remembered.value);
    }
    const context: StepContext = {
      operationId: stepOperationIdOf(operationId, name),
      fencingToken: node.epoch,
      signal,
    };
    const found = hasEarlierOpenAttempt(node) ? await lookUp(name, context, options) : undefined;
    const value = encode(name, found?.is === "done" ? found.output : await run(context));
    await remember(place, name, value);
    partDone ||= changes;
    return decode<Value>(value);
  };

  /** A former owner that lives on could act after the look-up, or still remember the step that is about to be doubted. */
  const waitForOwners = (name: string): void => {
    if (node.owners_dead_through_epoch === node.epoch - 1) return;
    tooEarly = true;
    throw stepError(
      "owner_not_dead",
      `step ${JSON.stringify(name)} is asked about once its former owner is surely dead`,
    );
  };

  /** @returns what is known of a step that may have run, or undefined where it may simply run again. */
  const lookUp = async <Value>(
    name: string,
    context: StepContext,
    options: StepOptions<Value>,
  ): Promise<Reconciled<Value> | undefined> => {
    const effect: EffectClass = options.effect ?? "idempotent";
    switch (effect) {
      case "read_only":
      case "idempotent":
        return undefined;
      case "at_most_once":
        waitForOwners(name);
        doubt = `step ${JSON.stringify(name)} may have run, and must not run twice`;
        throw stepError("step_in_doubt", doubt);
      case "reconcilable": {
        waitForOwners(name);
        const answer = await options.reconcile?.(context);
        if (answer?.is === "done" || answer?.is === "not_done") return answer;
        throw stepError("step_not_reconciled", `reconcile of step ${JSON.stringify(name)} could not tell`);
      }
      default:
        return effect satisfies never;
    }
  };

  return {
    step,
    allEnded: async () => {
      while (underWay.size > 0) await Promise.all(underWay);
    },
    end: () => {
      ended = true;
    },
    doubt: () => doubt,
    tooEarly: () => tooEarly,
    partDone: () => partDone,
    strayed: async () => {
      if (strayed !== undefined || node.epoch === 1) return strayed;
      const remembered = opened === undefined ? await readJournal(world, node) : journal;
      const vanished = [...remembered.values()].find(({ name }) => !asked.has(name));
      if (vanished === undefined) return undefined;
      const message = `step ${JSON.stringify(vanished.name)} of an earlier attempt was not asked for: a later attempt must ask for the same steps`;
      return { name: "StepError", code: "step_vanished", message };
    },
  };
}

function checkStep<Value>(name: string, options: StepOptions<Value>, asked: ReadonlySet<string>): void {
  const id = idSchema.safeParse(name);
  if (!id.success)
    throw stepError("step_name", `step name ${id.error.issues[0]?.message ?? "is wrong"}, got ${JSON.stringify(name)}`);
  if (asked.has(name))
    throw stepError("step_repeated", `step name must be unique in its node, got ${JSON.stringify(name)} twice`);
  const isReconcilable = options.effect === "reconcilable";
  if (isReconcilable !== (options.reconcile !== undefined)) {
    throw stepError(
      "step_effect",
      `step ${JSON.stringify(name)}: reconcile goes with effect reconcilable, and only with it, got effect ${options.effect ?? "idempotent"}`,
    );
  }
}

/** What was remembered belongs to a place and a name: where the two do not meet, the tool asks for other steps than before. */
function rememberedAt(journal: Journal, place: number, name: string): RememberedStep | undefined {
  const here = journal.get(place);
  if (here !== undefined && here.name !== name) {
    throw stepError(
      "step_reordered",
      `step ${place + 1} must be ${JSON.stringify(here.name)} as in an earlier attempt, got ${JSON.stringify(name)}`,
    );
  }
  for (const [other, remembered] of journal) {
    if (remembered.name === name && other !== place) {
      throw stepError(
        "step_reordered",
        `step ${JSON.stringify(name)} must come as number ${other + 1} as in an earlier attempt, got number ${place + 1}`,
      );
    }
  }
  return here;
}

/** @returns JSON text, or undefined for a step that gives nothing back. */
function encode(name: string, value: unknown): string | undefined {
  if (value === undefined) return undefined;
  const fault = jsonFault(value);
  if (fault !== undefined)
    throw stepError(
      "step_value",
      `step ${JSON.stringify(name)} must give back JSON, got ${fault.kind} at ${JSON.stringify(fault.path)}`,
    );
  const text = JSON.stringify(value);
  const bytes = Buffer.byteLength(text, "utf8");
  if (bytes > fixed.stepBytes)
    throw stepError(
      "step_value",
      `step ${JSON.stringify(name)} must give back at most ${fixed.stepBytes} bytes of JSON, got ${bytes}`,
    );
  return text;
}

const decode = <Value>(text: string | undefined): Value => (text === undefined ? undefined : JSON.parse(text)) as Value;

const leaseLost = (): Error =>
  stepError("lease_lost", "another owner has taken the node over, so this step cannot be remembered");

/** Fences former owners off and brings what is remembered. */
async function openJournal(world: WorkerWorld, node: NodeItem): Promise<Journal> {
  const { commitBufferMs } = world.limits;
  for (;;) {
    const raised = await settle(world, commitBufferMs, () => world.table.write(raiseJournal(node)));
    if (raised.is === "applied") return readItem(journalItemSchema, raised.item).steps;
    const old = raised.old === undefined ? undefined : readItem(journalItemSchema, raised.old);
    if (old?.generation === node.generation) {
      if (old.epoch === node.epoch) return old.steps;
      if (old.epoch > node.epoch) throw leaseLost();
    }
    const made = await settle(world, commitBufferMs, () => world.table.write(createJournal(node, {})));
    if (made.is === "applied") return new Map();
    // A former owner was faster and has made it: its epoch is to be raised.
  }
}

/** For an attempt that has asked for no step, and so has fenced nobody off. */
async function readJournal(world: WorkerWorld, node: NodeItem): Promise<Journal> {
  const item = await world.table.get(journalKey(node.run_id, node.node_id));
  const journal = item === undefined ? undefined : readItem(journalItemSchema, item);
  return journal?.generation === node.generation ? journal.steps : new Map();
}

async function writeStep(world: WorkerWorld, node: NodeItem, step: Item, isMade: () => boolean): Promise<void> {
  const { commitBufferMs } = world.limits;
  if (!isMade()) {
    const made = await settle(world, commitBufferMs, () => world.table.write(createJournal(node, step)));
    if (made.is === "applied") return;
    // One's own, by a sibling step or by a call whose answer was lost; or a later owner's.
  }
  const written = await settle(world, commitBufferMs, () => world.table.write(rememberStep(node, step)));
  if (written.is === "refused") throw leaseLost();
}
