/** One run of a user's tools on a whole deployment in memory and in simulated time. */
import { jsonFault } from "../shared/json.ts";
import { defaultLimits, type Limits } from "../shared/limits.ts";
import { type EffectKnown, type RunStatus, refusalSchema } from "../shared/model.ts";
import type { AnyTool } from "../shared/tool.ts";
import { type Engine, engine, startMs } from "./engine.ts";
import type { ChooseFault } from "./faults.ts";
import { isAtRest, type MadeCall, madeCall, type NodeOutcome, nodeOutcomes, storedRun } from "./outcome.ts";
import type { Process } from "./process.ts";
import { toolCode, watched } from "./tool-code.ts";

/** As `client.startRun` takes it. */
export type NodeRequest = {
  readonly nodeId: string;
  readonly tool: string;
  /** JSON; may hold `{ "$output": nodeId, "pointer": "/a" }`. @default {} */
  readonly input?: unknown;
  readonly dependsOn?: readonly string[];
};

/** A function is killed there: it comes back as AWS would call it again, by a redelivery, the stream or the scanner. */
export type CrashPoint = {
  /** The call's number, as `outcome.calls` shows it. */
  readonly call: number;
  /** `before` it takes effect, or `after` it took effect and before anyone heard of it. */
  readonly when: "before" | "after";
};

export type SimulateOptions = {
  /** The graph, in any order. */
  readonly nodes: readonly NodeRequest[];
  readonly tools: readonly AnyTool[];
  /** Simulated time that the run may take. @default limits.runDeadlineMs, 24 h */
  readonly deadlineMs?: number;
  /** As a deployment would set them. @default those of `leasehold`: lease 30 s, function timeout 300 s, 5 attempts, ... */
  readonly limits?: Partial<Limits>;
  /** @default nothing is killed */
  readonly crash?: CrashPoint;
  /** A function stands still for so long before the call takes effect, and then goes on as though nothing had been. @default none */
  readonly stall?: { readonly call: number; readonly forMs: number };
  /** Cancels, each sent so long after the start; one that comes before the run is there is refused, as it would be. @default none */
  readonly commands?: readonly { readonly type: "cancel_run"; readonly afterMs: number; readonly reason?: string }[];
  /** Decides ids and jitter: the same seed and deterministic tools make the same run. @default 1 */
  readonly seed?: number;
  /** How long simulated time stands still for a tool that waits for real timers, files or sockets, in real ms. @default 2,000 */
  readonly realWaitMs?: number;
};

/** What a person would say of a node in doubt. */
export type Resolution =
  /** Its effect happened; `output` is what the tool would have returned. */
  | { readonly resolution: "succeeded"; readonly output: unknown }
  /** It did not and never will: the node runs again, with a fresh budget. */
  | { readonly resolution: "not_done" }
  /** The node ends FAILED. `effect`: what is known of its effect. @default "unknown" */
  | { readonly resolution: "failed"; readonly effect?: EffectKnown };

export type Outcome = {
  /** `RUNNING`, or `CANCELLING`, only where a node in doubt keeps the run from ending. */
  readonly status: RunStatus;
  /** By node id, in the order of the request. */
  readonly nodes: Readonly<Record<string, NodeOutcome>>;
  /** Every call of every function, in their order. */
  readonly calls: readonly MadeCall[];
  /** Where a function was killed, if one was. */
  readonly crashed?: MadeCall & { readonly when: CrashPoint["when"] };
  /** Simulated time from the start until nothing more could happen. */
  readonly tookMs: number;
  /** Says what became of a node in doubt, and goes on with the run. @throws Error when it is refused. */
  resolve(nodeId: string, resolution: Resolution): Promise<Outcome>;
};

const runId = "run";
const hourMs = 3_600_000;

/**
 * Runs a graph of tools to its end, or until only a node in doubt is left: nothing is deployed, and hours take milliseconds.
 * @throws Error when the start is refused, with its rule; when the run does not come to rest, or `crash` and `stall` name a call
 * that is not made; when a tool waits for real time for too long.
 */
export async function simulate(options: SimulateOptions): Promise<Outcome> {
  const { nodes, tools, deadlineMs, crash, stall, limits = {}, seed = 1, realWaitMs = 2_000 } = options;
  const calls: MadeCall[] = [];
  const processes: Process[] = [];
  const code = toolCode(tools, realWaitMs);
  const choose: ChooseFault = (call) => {
    calls.push(madeCall(call));
    if (call.index === crash?.call) return { kind: crash.when === "before" ? "crash_before" : "crash_after", ms: 0 };
    return call.index === stall?.call ? { kind: "stall", ms: stall.forMs } : undefined;
  };
  const made = engine({
    runId,
    seed,
    choose,
    limits: { queueVisibilityMs: defaultLimits.queueVisibilityMs, ...limits },
    quiet: code.quiet,
    toolsFor: (process) => {
      processes.push(process);
      return code.toolsFor(process);
    },
  });
  const start = {
    type: "start_run",
    command_id: "start",
    run_id: runId,
    nodes: nodes.map(({ nodeId, tool, input = {}, dependsOn = [] }) => ({
      node_id: nodeId,
      tool,
      input: checkedJson(`node ${JSON.stringify(nodeId)}, input`, input),
      depends_on: dependsOn,
    })),
    ...(deadlineMs === undefined ? {} : { deadline_ms: deadlineMs }),
  };
  made.commands.put(JSON.stringify(start), 0);
  for (const [index, { afterMs, ...command }] of (options.commands ?? []).entries())
    made.commands.put(JSON.stringify({ ...command, command_id: `command-${index}`, run_id: runId }), afterMs);
  made.startScanner();

  const patienceMs = (deadlineMs ?? made.limits.runDeadlineMs) + 6 * hourMs;
  const played: Played = { made, calls, processes, patienceMs, crash };
  const outcome = await goOn(played);
  for (const [name, point] of Object.entries({ crash, stall })) {
    if (point !== undefined && calls[point.call] === undefined)
      throw new Error(
        `${name}.call must be below ${calls.length}, the number of calls that were made, got ${point.call}`,
      );
  }
  return outcome;
}

type Played = {
  readonly made: Engine;
  readonly calls: readonly MadeCall[];
  readonly processes: readonly Process[];
  readonly patienceMs: number;
  readonly crash: CrashPoint | undefined;
};

async function goOn(played: Played): Promise<Outcome> {
  const { made, calls, processes, patienceMs, crash } = played;
  const isOver = (): boolean => {
    if (made.commands.living().length > 0 || made.dispatches.living().length > 0) return false;
    // One that stood still goes on, though nobody waits for it any more.
    if (processes.some((process) => process.isAlive())) return false;
    const stored = storedRun(made);
    return stored === undefined || isAtRest(stored);
  };
  const sinceStartMs = () => made.clockwork.nowMs() - startMs;
  await watched(() => made.run(isOver, sinceStartMs() + patienceMs));
  const stored = storedRun(made);
  if (stored === undefined) throw new Error(`the start was refused: ${toldRefusal(made.rejected.at(-1)?.reason)}`);
  const nodes = await nodeOutcomes(stored, made.stored);
  if (!isOver()) {
    const states = Object.entries(nodes).map(([id, node]) => `${id} ${node.status}`);
    throw new Error(`the run did not come to rest within ${patienceMs} ms of simulated time: ${states.join(", ")}`);
  }
  const struck = crash === undefined ? undefined : calls[crash.call];
  return {
    status: stored.run.status,
    nodes,
    calls: [...calls],
    ...(struck === undefined || crash === undefined ? {} : { crashed: { ...struck, when: crash.when } }),
    tookMs: sinceStartMs(),
    resolve: (nodeId, resolution) => resolve(played, nodeId, resolution),
  };
}

async function resolve(played: Played, nodeId: string, resolution: Resolution): Promise<Outcome> {
  const { made } = played;
  const node = storedRun(made)?.nodes.find((one) => one.node_id === nodeId);
  if (node?.status !== "IN_DOUBT")
    throw new Error(`resolve: node ${JSON.stringify(nodeId)} must be IN_DOUBT, it is ${node?.status ?? "not there"}`);
  if (resolution.resolution === "succeeded") checkedJson("resolve: output", resolution.output);
  const refused = made.rejected.length;
  const command = {
    ...resolution,
    type: "resolve_node",
    command_id: `resolve-${node.ordinal}-${node.epoch}-${refused}`,
    run_id: runId,
    node_id: nodeId,
    epoch: node.epoch,
    by: "a test",
    why: "the test says so",
  };
  made.commands.put(JSON.stringify(command), 0);
  const outcome = await goOn(played);
  if (made.rejected.length > refused) throw new Error(`resolve: ${toldRefusal(made.rejected.at(-1)?.reason)}`);
  return outcome;
}

/** As the client checks it: `JSON.stringify` would silently leave out or round what is no JSON. */
function checkedJson(what: string, value: unknown): unknown {
  const fault = jsonFault(value);
  if (fault !== undefined) throw new Error(`${what}${fault.path}: ${fault.kind} is not JSON`);
  return value;
}

function toldRefusal(reason = "without a reason"): string {
  let refusal: ReturnType<typeof refusalSchema.safeParse> | undefined;
  try {
    refusal = refusalSchema.safeParse(JSON.parse(reason));
  } catch {
    // A reason in plain words.
  }
  if (refusal?.success !== true) return reason;
  const { code, node, field, rule, value } = refusal.data;
  const where = [node === undefined ? undefined : `node ${JSON.stringify(node)}`, field].filter(Boolean).join(", ");
  return `${where === "" ? "" : `${where}: `}${rule}${value === undefined ? "" : `, got ${value}`} (${code})`;
}
