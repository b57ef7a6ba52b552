/** The user's tools as one invocation runs them: what they say and throw is told, and where it is wanted the worker dies once they acted. */
import { describeError } from "../../shared/errors.ts";
import type { Log } from "../../shared/ports.ts";
import type { AnyTool, EffectClass, ToolContext } from "../../shared/tool.ts";
import type { Process } from "../../testing/process.ts";
import type { Say } from "./event.ts";
import { placesOf } from "./places.ts";

/** Operation ids by run and node of those that were killed once: nobody is killed twice. */
export type Killed = Map<string, string>;

export type Binding = {
  readonly process: Process;
  readonly say: Say;
  /** The user's own source files. */
  readonly files: readonly string[];
  /** Missing where nobody is to be killed. */
  readonly killed?: Killed;
  /** Aborts with the process: code of a tool cannot be ended here from outside, so it is asked to. */
  readonly signal: AbortSignal;
  /** When a message whose owner dies now is looked at again, in ms from now. */
  readonly backInMs: (effect: EffectClass) => number;
};

const never = new Promise<never>(() => undefined);

export const boundTools = (tools: readonly AnyTool[], binding: Binding): readonly AnyTool[] =>
  tools.map((tool) => boundTool(tool, binding));

function boundTool(tool: AnyTool, binding: Binding): AnyTool {
  const { process, killed, say } = binding;

  /** Runs code of the tool. What it does after its process was ended is no part of any run, and is not told. */
  const told = async <Result>(context: ToolContext, run: (own: ToolContext) => Promise<Result>): Promise<Result> => {
    const { nodeId } = context;
    const own: ToolContext = {
      ...context,
      signal: AbortSignal.any([context.signal, binding.signal]),
      log: logOf(nodeId, (line) => process.isAlive() && say(line)),
    };
    try {
      return await run(own);
    } catch (thrown) {
      if (process.isAlive())
        say({ event: "threw", nodeId, error: describeError(thrown), at: placesOf(thrown, binding.files) });
      throw thrown;
    }
  };

  const execute = async (input: unknown, context: ToolContext): Promise<unknown> => {
    const { nodeId, attempt, operationId } = context;
    const before = killed?.get(placeOf(context));
    if (before !== undefined)
      say({ event: "taken_over", nodeId, attempt, operationId, sameOperation: before === operationId });
    const output = await told(context, (own) => tool.execute(input, own));
    if (killed === undefined || before !== undefined || !process.isAlive()) return output;
    killed.set(placeOf(context), operationId);
    const next = whatFollows(tool.effect, binding.backInMs(tool.effect));
    say({ event: "killed", nodeId, attempt, operationId, next });
    process.die();
    return never;
  };

  const { reconcile } = tool;
  if (reconcile === undefined) return { ...tool, execute };
  return {
    ...tool,
    execute,
    reconcile: async (input, context) => {
      const { nodeId, operationId } = context;
      const answer = await told(context, (own) => reconcile.call(tool, input, own));
      const before = killed?.get(placeOf(context)) ?? operationId;
      if (process.isAlive())
        say({ event: "looked_up", nodeId, operationId, sameOperation: before === operationId, answer: answer?.is });
      return answer;
    },
  };
}

const placeOf = ({ runId, nodeId }: ToolContext): string => JSON.stringify([runId, nodeId]);

function whatFollows(effect: EffectClass, backInMs: number): string {
  const seconds = Math.max(1, Math.round(backInMs / 1_000));
  switch (effect) {
    case "read_only":
    case "idempotent":
      return `its message comes back when the lease has ended, in about ${seconds} s`;
    case "reconcilable":
      return `it is looked up once its invocation is surely over, in about ${seconds} s`;
    case "at_most_once":
      return `nobody calls it again; it is in doubt once its invocation is surely over, in about ${seconds} s`;
    default:
      return effect satisfies never;
  }
}

function logOf(nodeId: string, say: (line: Parameters<Say>[0]) => void): Log {
  const at =
    (level: string): Log["info"] =>
    (message, fields = {}) =>
      say({ event: "log", nodeId, level, message: String(message), fields });
  return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}
