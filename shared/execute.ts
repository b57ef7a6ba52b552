/** Runs a tool under its abort signal, and says what is certain of the outcome. */
import { describeError, type ErrorRecord, isNonRetryable, isRetryable, retryAfterOf } from "./errors.ts";
import { jsonFault } from "./json.ts";
import { operationIdOf } from "./keys.ts";
import { fixed, keptMs } from "./limits.ts";
import type { NodeItem } from "./model.ts";
import type { Outcome } from "./outcome.ts";
import type { Pulse } from "./pulse.ts";
import { type Steps, stepsOf } from "./step.ts";
import type { AnyTool, RunStep, ToolContext } from "./tool.ts";
import type { Invocation, WorkerWorld } from "./worker-world.ts";

export type Executed = {
  readonly outcome: Outcome;
  /** The tool has not stopped: the process must end once its outcome is recorded. */
  readonly stillRunning: boolean;
  /** A step that changes something has been remembered. */
  readonly partDone: boolean;
};

/** One call of a tool's code. */
export type ToolCall = {
  readonly node: NodeItem;
  readonly tool: AnyTool;
  readonly input: unknown;
  readonly pulse: Pulse;
  readonly invocation: Invocation;
};

export async function execute(world: WorkerWorld, call: ToolCall): Promise<Executed> {
  const { node, tool, input, pulse } = call;
  const { limits } = world;
  const stopsIn = {
    timeoutMs: tool.timeoutMs ?? limits.attemptLimitMs,
    deadlineMs: node.deadline_at_ms - world.clock.nowMs(),
  };
  const steps = stepsOf(world, node, operationIdIn(world, node), pulse.signal);
  const context = contextOf(world, node, pulse, steps.step);
  const settled = await untilStopped(world, call, stopsIn, () => outcomeOf(tool, input, context, steps));
  steps.end();
  return settled.is === "settled"
    ? { outcome: settled.value, stillRunning: false, partDone: steps.partDone() }
    : { outcome: { is: "unknown", error: settled.error }, stillRunning: true, partDone: steps.partDone() };
}

/** Asks the tool what an open attempt did. Neither the run's deadline nor a cancel stops that: it is to be found out in any case. */
export async function reconcile(world: WorkerWorld, call: ToolCall): Promise<Executed> {
  const { node, tool, input, pulse } = call;
  const timeoutMs = tool.reconcileRetry?.timeoutMs ?? world.limits.reconcileTimeoutMs;
  const settled = await untilStopped(world, call, { timeoutMs }, () =>
    found(tool, input, contextOf(world, node, pulse, noSteps)),
  );
  return settled.is === "settled"
    ? { outcome: settled.value, stillRunning: false, partDone: false }
    : { outcome: { is: "found_nothing", error: settled.error }, stillRunning: true, partDone: false };
}

async function found(tool: AnyTool, input: unknown, context: ToolContext): Promise<Outcome> {
  try {
    const answer = await tool.reconcile?.(input, context);
    if (answer?.is === "done") return await checkedOutput(tool, answer.output);
    if (answer?.is === "not_done") return { is: "found_not_done" };
    // No other answer can be trusted with a second effect.
    const isUnknown = answer?.is === "unknown";
    const message = isUnknown
      ? "reconcile answered unknown"
      : `reconcile must answer done, not_done or unknown, got ${JSON.stringify(answer)}`.slice(0, 300);
    return {
      is: "found_nothing",
      error: { name: "NotReconciled", code: isUnknown ? "unknown" : "bad_answer", message },
    };
  } catch (thrown) {
    return { is: "found_nothing", error: describeError(thrown) };
  }
}

type StopsIn = { readonly timeoutMs: number; readonly deadlineMs?: number };
type Settled<T> =
  | { readonly is: "settled"; readonly value: T }
  | { readonly is: "still_running"; readonly error: ErrorRecord };

/** Waits for the tool's code, tells it to stop when its time is over, and gives up on it a grace time later. */
async function untilStopped<T>(
  world: WorkerWorld,
  { tool, pulse, invocation }: ToolCall,
  stopsIn: StopsIn,
  run: () => Promise<T>,
): Promise<Settled<T>> {
  const { clock, limits } = world;
  const done = new AbortController();
  const stopAfter = (ms: number, reason: "timeout" | "deadline"): void => {
    void clock.sleep(Math.max(0, ms), done.signal).then(() => {
      if (!done.signal.aborted) pulse.stop(reason);
    });
  };
  stopAfter(Math.min(stopsIn.timeoutMs, limits.attemptLimitMs, invocation.remainingMs() - keptMs(limits)), "timeout");
  if (stopsIn.deadlineMs !== undefined) stopAfter(stopsIn.deadlineMs, "deadline");

  const stillRunning = Symbol("still running");
  const graceOver = async (): Promise<typeof stillRunning> => {
    if (!pulse.signal.aborted) {
      await new Promise<void>((resolve) => pulse.signal.addEventListener("abort", () => resolve(), { once: true }));
    }
    await clock.sleep(limits.abortGraceMs, done.signal);
    return stillRunning;
  };
  const result = await Promise.race([run(), graceOver()]);
  done.abort();
  if (result !== stillRunning) return { is: "settled", value: result };
  const reason = String(pulse.signal.reason);
  const message = `tool ${tool.name} was told to stop (${reason}) and was still running ${limits.abortGraceMs} ms later`;
  return { is: "still_running", error: { name: "ToolDidNotStop", code: reason, message } };
}

const contextOf = (world: WorkerWorld, node: NodeItem, pulse: Pulse, step: RunStep): ToolContext => ({
  operationId: operationIdIn(world, node),
  fencingToken: node.epoch,
  attempt: node.attempts_used,
  runId: node.run_id,
  nodeId: node.node_id,
  deadlineAtMs: node.deadline_at_ms,
  signal: pulse.signal,
  log: world.log,
  step,
});

const operationIdIn = (world: WorkerWorld, node: NodeItem): string =>
  operationIdOf(world.namespace, node.run_id, node.generation, node.node_id);

const noSteps: RunStep = async (name) => {
  throw new Error(`reconcile only looks up and runs no steps, got step ${JSON.stringify(name)}`);
};

async function outcomeOf(tool: AnyTool, input: unknown, context: ToolContext, steps: Steps): Promise<Outcome> {
  const outcome = await outcomeOfCode(tool, input, context);
  await steps.allEnded();
  // Whatever the tool made of it: a step that may have acted is not settled by a value, nor by an error that was caught.
  if (steps.tooEarly()) return { is: "too_early" };
  const doubt = steps.doubt();
  if (doubt !== undefined) return { is: "too_late", why: doubt };
  if (outcome.is !== "succeeded") return outcome;
  const error = await steps.strayed().catch(describeError);
  return error === undefined ? outcome : { is: "unknown", error };
}

async function outcomeOfCode(tool: AnyTool, input: unknown, context: ToolContext): Promise<Outcome> {
  let value: unknown;
  try {
    value = await tool.execute(input, context);
  } catch (thrown) {
    const error = describeError(thrown);
    if (isRetryable(thrown)) return { is: "retryable", error, retryAfterMs: retryAfterOf(thrown) };
    if (isNonRetryable(thrown)) return { is: "permanent", error };
    return { is: "unknown", error };
  }
  return checkedOutput(tool, value);
}

/** Serialised once, here: what the tool changes afterwards is not what it returned. */
export async function checkedOutput(tool: AnyTool, returned: unknown): Promise<Outcome> {
  const bad = (message: string, output: string | undefined): Outcome => ({
    is: "bad_output",
    output,
    error: { name: "BadOutput", code: "bad_output", message },
  });
  try {
    const raw = jsonFault(returned) === undefined ? JSON.stringify(returned) : undefined;
    const parsed = await tool.output.safeParseAsync(returned);
    if (!parsed.success) {
      const issue = parsed.error.issues[0];
      return bad(
        `${["output", ...(issue?.path ?? []).map(String)].join(".")}: ${issue?.message ?? "does not fit the tool's schema"}`,
        kept(raw),
      );
    }
    const fault = jsonFault(parsed.data);
    if (fault !== undefined) return bad(`output${fault.path}: ${fault.kind} is not JSON`, kept(raw));
    const output = JSON.stringify(parsed.data);
    const bytes = Buffer.byteLength(output, "utf8");
    if (bytes > fixed.outputBytes)
      return bad(`output too large: must be at most ${fixed.outputBytes} bytes of JSON, got ${bytes}`, undefined);
    return { is: "succeeded", output };
  } catch (error) {
    return bad(`output: the tool's schema threw: ${describeError(error).message}`, undefined);
  }
}

const kept = (raw: string | undefined): string | undefined =>
  raw !== undefined && Buffer.byteLength(raw, "utf8") <= fixed.outputBytes ? raw : undefined;
