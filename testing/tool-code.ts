/**
 * A user's code in simulated time. The clock stands still while code of a tool goes on by itself: promises always, and real
 * timers, files or sockets once the code has used one. It moves on when the code waits for simulated time: for `clock.sleep`,
 * a step, `callOutside` or its signal.
 */
import { AsyncLocalStorage, createHook } from "node:async_hooks";
import { getActiveResourcesInfo } from "node:process";
import type { Clock } from "../shared/ports.ts";
import type { AnyTool, Reconciled, RunStep, ToolContext } from "../shared/tool.ts";
import { promisesSettled } from "./clockwork.ts";
import type { Process } from "./process.ts";

/** One call of a tool's code. */
type Running = {
  readonly process: Process;
  readonly tool: string;
  readonly nodeId: string;
  /** How many of its promises only simulated time can settle. */
  waits: number;
  /** What it has used that only real time can settle. */
  readonly real: Set<string>;
  /** Sockets and requests that were open when it began. */
  readonly openBefore: number;
};

const running = new AsyncLocalStorage<Running>();

/** Taken when this file is loaded: a test's fake timers would stand still. */
const afterRealMs = setTimeout;
const realNowMs = performance.now.bind(performance);

/** Node's names: timers in words, everything that is native in capitals. */
const isReal = (type: string): boolean =>
  type === "Timeout" || type === "Immediate" || (type !== "PROMISE" && /^[A-Z0-9]+$/.test(type));

const hook = createHook({
  init: (_id, type) => {
    const one = isReal(type) ? running.getStore() : undefined;
    one?.real.add(type);
  },
});
let watchers = 0;

const notRequests: ReadonlySet<string> = new Set(["Timeout", "Immediate", "MessagePort", "TTYWrap", "CloseReq"]);
/** A socket that is kept alive was opened by earlier code; while it is idle it does not count, while it waits for an answer it does. */
const openRequests = (): number => getActiveResourcesInfo().filter((type) => !notRequests.has(type)).length;

/** While it goes on, what a tool's code uses of real time is noticed. */
export async function watched<Result>(run: () => Promise<Result>): Promise<Result> {
  watchers += 1;
  hook.enable();
  try {
    return await run();
  } finally {
    watchers -= 1;
    if (watchers === 0) hook.disable();
  }
}

export type ToolCode = {
  /** The tools as a process runs them: each call of their code is a place where it may be killed. */
  toolsFor(process: Process): readonly AnyTool[];
  /** @throws Error when code waits for real time for longer than it may. */
  quiet(): Promise<void>;
};

/** @param realWaitMs how long the clock stands still for code that waits for real time. */
export function toolCode(tools: readonly AnyTool[], realWaitMs: number): ToolCode {
  const open = new Set<Running>();

  const run = <Result>(
    process: Process,
    tool: AnyTool,
    what: string,
    context: ToolContext,
    code: (context: ToolContext) => Promise<Result>,
  ): Promise<Result> => {
    const openBefore = openRequests();
    const one: Running = { process, tool: tool.name, nodeId: context.nodeId, waits: 0, real: new Set(), openBefore };
    const whole = async (): Promise<Result> => {
      open.add(one);
      try {
        return await code({ ...context, step: stepIn(one, context.step) });
      } finally {
        open.delete(one);
      }
    };
    return process.runCode(what, () => running.run(one, whole));
  };

  const bound = (process: Process, tool: AnyTool): AnyTool => {
    const { reconcile } = tool;
    const more = reconcile && {
      reconcile: (input: unknown, context: ToolContext) =>
        run<Reconciled<unknown>>(process, tool, "reconcile", context, (own) => reconcile.call(tool, input, own)),
    };
    return {
      ...tool,
      ...more,
      execute: (input, context) => run(process, tool, "execute", context, (own) => tool.execute(input, own)),
    };
  };

  /** Code of a dead process is left where it stands. */
  const heldBy = (): Running | undefined =>
    [...open].find(
      ({ process, real, waits, openBefore }) =>
        process.isAlive() && waits === 0 && (real.size > 0 || openRequests() > openBefore),
    );

  return {
    toolsFor: (process) => tools.map((tool) => bound(process, tool)),
    quiet: async () => {
      await promisesSettled();
      const startedAtMs = realNowMs();
      for (let held = heldBy(); held !== undefined; held = heldBy()) {
        if (realNowMs() - startedAtMs > realWaitMs) throw new Error(tooLong(held, realWaitMs));
        await new Promise((resolve) => void afterRealMs(resolve, 1));
        await promisesSettled();
      }
    },
  };
}

const tooLong = ({ tool, nodeId, real }: Running, realWaitMs: number): string =>
  `tool ${JSON.stringify(tool)} of node ${JSON.stringify(nodeId)} has waited for real time (${[...real].join(", ") || "an open socket"}) for more than ${realWaitMs} ms; ` +
  "simulated time stands still for it. Use fakes in memory and the clock of leasehold/testing, or raise realWaitMs";

/** While it waits, simulated time moves on. */
async function waiting<Result>(one: Running, wait: () => Promise<Result>): Promise<Result> {
  one.waits += 1;
  try {
    return await wait();
  } finally {
    one.waits -= 1;
  }
}

/** Code inside of a wait: the clock stands still for it again. */
async function working<Result>(one: Running, work: () => Promise<Result> | Result): Promise<Result> {
  one.waits -= 1;
  try {
    return await work();
  } finally {
    one.waits += 1;
  }
}

const stepIn =
  (one: Running, step: RunStep): RunStep =>
  (name, code, options = {}) => {
    const { reconcile } = options;
    const own = reconcile && {
      reconcile: (context: Parameters<typeof reconcile>[0]) => working(one, () => reconcile(context)),
    };
    return waiting(one, () => step(name, (context) => working(one, () => code(context)), { ...options, ...own }));
  };

/**
 * Marks a call that a tool's code makes to the outside, usually in a fake: `charge: (order) => callOutside("charge", () => ...)`.
 * It takes 10 ms of simulated time, and the worker may be killed, or stand still, before and after it. In a tool that no
 * simulation runs it just calls.
 */
export async function callOutside<Result>(what: string, call: () => Promise<Result> | Result): Promise<Result> {
  const one = running.getStore();
  if (one === undefined) return call();
  const code = () => running.run(one, () => working(one, call));
  return waiting(one, () => one.process.runCode(what, code));
}

function current(): Running {
  const one = running.getStore();
  if (one === undefined)
    throw new Error("the clock of leasehold/testing goes only for code of a tool that simulate() runs");
  return one;
}

/** The simulated clock of the worker that runs this code of a tool: to be given to tools and fakes instead of timers. @throws Error elsewhere. */
export const clock: Clock = {
  nowMs: () => current().process.clock.nowMs(),
  monotonicMs: () => current().process.clock.monotonicMs(),
  sleep: async (ms, signal) => {
    const one = current();
    await waiting(one, () => one.process.clock.sleep(ms, signal));
  },
};
