/** Runs a tool under its abort signal, and says what is certain of the outcome. */
import { describeError, isNonRetryable, isRetryable, retryAfterOf } from "./errors.ts";
import { jsonFault } from "./json.ts";
import { operationIdOf } from "./keys.ts";
import { fixed } from "./limits.ts";
import type { NodeItem } from "./model.ts";
import type { Outcome } from "./outcome.ts";
import type { Pulse } from "./pulse.ts";
import type { AnyTool, ToolContext } from "./tool.ts";
import type { Invocation, WorkerWorld } from "./worker-world.ts";

export type Executed = {
  readonly outcome: Outcome;
  /** The tool has not stopped: the process must end once its outcome is recorded. */
  readonly stillRunning: boolean;
};

export async function execute(
  world: WorkerWorld,
  node: NodeItem,
  tool: AnyTool,
  input: unknown,
  pulse: Pulse,
  invocation: Invocation,
): Promise<Executed> {
  const { clock, limits } = world;
  const done = new AbortController();
  const stopAfter = (ms: number, reason: "timeout" | "deadline"): void => {
    void clock.sleep(Math.max(0, ms), done.signal).then(() => {
      if (!done.signal.aborted) pulse.stop(reason);
    });
  };
  const keptMs = limits.commitBufferMs + limits.abortGraceMs;
  stopAfter(
    Math.min(tool.timeoutMs ?? limits.attemptLimitMs, limits.attemptLimitMs, invocation.remainingMs() - keptMs),
    "timeout",
  );
  stopAfter(node.deadline_at_ms - clock.nowMs(), "deadline");

  const stillRunning = Symbol("still running");
  const graceOver = async (): Promise<typeof stillRunning> => {
    if (!pulse.signal.aborted) {
      await new Promise<void>((resolve) => pulse.signal.addEventListener("abort", () => resolve(), { once: true }));
    }
    await clock.sleep(limits.abortGraceMs, done.signal);
    return stillRunning;
  };
  const result = await Promise.race([outcomeOf(tool, input, contextOf(world, node, pulse)), graceOver()]);
  done.abort();
  if (result !== stillRunning) return { outcome: result, stillRunning: false };
  const error = {
    name: "ToolDidNotStop",
    code: String(pulse.signal.reason),
    message: `the tool was told to stop (${String(pulse.signal.reason)}) and was still running ${limits.abortGraceMs} ms later`,
  };
  return { outcome: { is: "unknown", error }, stillRunning: true };
}

const contextOf = (world: WorkerWorld, node: NodeItem, pulse: Pulse): ToolContext => ({
  operationId: operationIdOf(world.namespace, node.run_id, node.generation, node.node_id),
  fencingToken: node.epoch,
  attempt: node.attempts_used,
  runId: node.run_id,
  nodeId: node.node_id,
  deadlineAtMs: node.deadline_at_ms,
  signal: pulse.signal,
  log: world.log,
});

async function outcomeOf(tool: AnyTool, input: unknown, context: ToolContext): Promise<Outcome> {
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
async function checkedOutput(tool: AnyTool, returned: unknown): Promise<Outcome> {
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
    if (bytes > fixed.valueBytes)
      return bad(`output: must be at most ${fixed.valueBytes} bytes of JSON, got ${bytes}`, undefined);
    return { is: "succeeded", output };
  } catch (error) {
    return bad(`output: the tool's schema threw: ${describeError(error).message}`, undefined);
  }
}

const kept = (raw: string | undefined): string | undefined =>
  raw !== undefined && Buffer.byteLength(raw, "utf8") <= fixed.valueBytes ? raw : undefined;
