/** `leasehold dev`: graphs run in memory, again after each change of their files. */
import { basename, resolve } from "node:path";
import { createInterface } from "node:readline";
import { inspect } from "node:util";
import { readGraphFile } from "../graph-file.ts";
import { isLoadError, type LoadedTools, loadTools } from "../load-tools.ts";
import { isUsageError } from "../usage.ts";
import { type CliWorld, exitCodes } from "../world.ts";
import { type Changes, changesOf } from "./changes.ts";
import { type Deployment, deployment } from "./deployment.ts";
import { devLimits } from "./dev-limits.ts";
import { type Say, teller } from "./event.ts";
import { devMemory, type Memory } from "./memory.ts";
import { play } from "./play.ts";
import { whileStraysAreTold } from "./strays.ts";

export type DevOptions = {
  /** Path of the module that exports `tools`. */
  readonly tools: string;
  /** Path of a graph file, as `leasehold submit` takes it; missing: paths are read from standard input, one a line. */
  readonly graph?: string;
  /** The tool of nodes that name none. */
  readonly defaultTool?: string;
  /** Ends after one run, with its outcome as exit code. */
  readonly once: boolean;
  /** Kills each node's worker once, after its tool has acted. */
  readonly kill: boolean;
  /** Tells everything as lines of JSON. */
  readonly json: boolean;
};

export type DevWorld = Pick<CliWorld, "stdout" | "stderr" | "environment" | "signal"> & {
  readonly readInput?: CliWorld["readInput"];
  /** @default the process's standard input */
  readonly readLines?: () => AsyncIterable<string>;
};

/**
 * @returns the exit code. With `once`: 0 where the run SUCCEEDED, else 1. Without a graph: 0 at the end of the input, 1 where a run did not succeed. 130 after Ctrl-C.
 * @throws UsageError and RefusedError, with `once`, for files that are wrong; without, they are told and the next change is waited for.
 */
export async function runDev(options: DevOptions, world: DevWorld): Promise<number> {
  const over = new AbortController();
  const session: Session = {
    options,
    world,
    say: teller(world, options.json),
    memory: devMemory(),
    changes: changesOf(over.signal),
    lines: linesOf(world),
    input: onlyOnce(world.readInput),
    runs: 0,
    last: undefined,
    failed: false,
  };
  const interrupted = new Promise<number>((done) => {
    const end = () => done(exitCodes.interrupted);
    if (world.signal?.aborted === true) end();
    else world.signal?.addEventListener("abort", end, { once: true });
  });
  let turn: Turn | undefined;
  try {
    const turns = async (): Promise<number> => {
      for (;;) {
        turn = newTurn(session);
        const ended = await Promise.race([work(session, turn), changeOf(session)]);
        if (typeof ended === "number") return ended;
        if (over.signal.aborted) return exitCodes.interrupted;
        giveUp(session, turn);
        session.say({ event: "changed", files: ended });
      }
    };
    return await whileStraysAreTold(session.say, () => Promise.race([turns(), interrupted]));
  } finally {
    over.abort();
    if (turn !== undefined) stop(turn);
  }
}

type Session = {
  readonly options: DevOptions;
  readonly world: DevWorld;
  readonly say: Say;
  readonly memory: Memory;
  readonly changes: Changes;
  readonly lines: () => Promise<string | undefined>;
  readonly input: () => Promise<string>;
  runs: number;
  /** The file that was typed last. */
  last: string | undefined;
  /** Some run did not succeed. */
  failed: boolean;
};

/** What is going on with the files as they are: from one change to the next. */
type Turn = {
  /** Says nothing any more once it is over: code of its tools may go on. */
  readonly say: Say;
  isOver: boolean;
  made: Deployment | undefined;
  /** The run that is going on. */
  runId: string | undefined;
};

function newTurn(session: Session): Turn {
  const turn: Turn = {
    say: (event) => {
      if (!turn.isOver) session.say(event);
    },
    isOver: false,
    made: undefined,
    runId: undefined,
  };
  return turn;
}

const never = new Promise<never>(() => undefined);

const changeOf = (session: Session): Promise<readonly string[]> =>
  session.options.once ? never : session.changes.next();

function stop(turn: Turn): void {
  turn.isOver = true;
  turn.made?.stop();
}

/** A tool that hangs is left behind: its invocation is dead, and whatever it does has no effect here. */
function giveUp(session: Session, turn: Turn): void {
  stop(turn);
  if (turn.runId === undefined) return;
  session.memory.forget(turn.runId);
  session.say({ event: "abandoned", runId: turn.runId });
}

/** Resolves with an exit code, or never: then a change is waited for. */
async function work(session: Session, turn: Turn): Promise<number> {
  const { options } = session;
  try {
    const loaded = await load(session, turn);
    // It was changed while it was loading.
    if (turn.isOver) return never;
    const { memory } = session;
    const { tools, files } = loaded;
    const limits = devLimits(tools, options.kill);
    turn.made = deployment({ memory, tools, files, limits, kill: options.kill, say: turn.say });
    if (options.graph !== undefined) {
      const isDone = await playFile(session, turn, turn.made, options.graph);
      if (options.once) return isDone ? exitCodes.done : exitCodes.failed;
    } else if (options.once) return exitCodes.done;
    else return await playLines(session, turn, turn.made);
  } catch (error) {
    if (options.once) throw error;
    await tell(session, turn, error);
  }
  turn.say({ event: "waiting", forWhat: `waiting for a change of ${watched(options)} (Ctrl-C ends)` });
  return never;
}

const watched = ({ tools, graph }: DevOptions): string =>
  `${tools} and what it imports${graph === undefined || graph === "-" ? "" : `, or ${graph}`}`;

async function load(session: Session, turn: Turn): Promise<LoadedTools> {
  const { options, changes } = session;
  const startedMs = Date.now();
  const graphs = options.graph === undefined || options.graph === "-" ? [] : [resolve(options.graph)];
  await changes.watch([resolve(options.tools), ...graphs], startedMs);
  try {
    const loaded = await loadTools(options.tools);
    await changes.watch(loaded.files, startedMs);
    const tools = loaded.tools.map(({ name, effect, pool }) => ({
      name,
      effect,
      ...(pool === undefined ? {} : { pool }),
    }));
    turn.say({ event: "tools", file: options.tools, tools });
    return loaded;
  } catch (error) {
    if (isLoadError(error)) await changes.watch(error.files, startedMs);
    throw error;
  }
}

/** @returns whether it succeeded. */
async function playFile(session: Session, turn: Turn, made: Deployment, path: string): Promise<boolean> {
  const graph = await readGraphFile(path, session.options.defaultTool, session.input);
  session.runs += 1;
  const name = path === "-" ? "run" : basename(path).replace(/\.json$/, "");
  const runId = `${name}-${session.runs}`;
  turn.runId = runId;
  try {
    const run = await play(made, graph, runId, turn.say);
    const isDone = run.status === "SUCCEEDED";
    session.failed ||= !isDone;
    return isDone;
  } finally {
    turn.runId = undefined;
  }
}

/** One file after another, until the input ends; an empty line runs the last one again. */
async function playLines(session: Session, turn: Turn, made: Deployment): Promise<number> {
  for (;;) {
    const again = session.last === undefined ? "" : `, or nothing for ${session.last} again`;
    turn.say({ event: "waiting", forWhat: `type the path of a graph file${again} (Ctrl-C ends)` });
    const line = await session.lines();
    // It is for the turn after this one.
    if (turn.isOver) return never;
    if (line === undefined) return session.failed ? exitCodes.failed : exitCodes.done;
    const path = line.trim() === "" ? session.last : line.trim();
    if (path === undefined) continue;
    session.last = path;
    try {
      await playFile(session, turn, made, path);
    } catch (error) {
      session.failed = true;
      await tell(session, turn, error);
    }
  }
}

async function tell({ world }: Session, turn: Turn, error: unknown): Promise<void> {
  const isExpected = isUsageError(error) || (error instanceof Error && "rule" in error);
  const message = isExpected ? error.message : inspect(error);
  turn.say({ event: "error", message });
  if (isExpected && world.environment.DEBUG) world.stderr.write(`${inspect(error)}\n`);
}

/** The next line, for whoever asks first: one that was typed while files changed is not lost. */
function linesOf(world: DevWorld): Session["lines"] {
  let lines: AsyncIterator<string> | undefined;
  let asked: Promise<string | undefined> | undefined;
  return async () => {
    lines ??= (world.readLines ?? standardInput)()[Symbol.asyncIterator]();
    asked ??= lines.next().then(({ done, value }) => (done === true ? undefined : value));
    const line = await asked;
    asked = undefined;
    return line;
  };
}

const standardInput = (): AsyncIterable<string> => createInterface({ input: process.stdin });

/** What is piped in can be read once, and is run again after each change. */
function onlyOnce(read: CliWorld["readInput"] = async () => ""): CliWorld["readInput"] {
  let text: Promise<string> | undefined;
  return () => {
    text ??= read();
    return text;
  };
}
