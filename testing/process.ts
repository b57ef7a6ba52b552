/** One invocation of a function: it may die, stand still, or have a clock of its own; its calls are where faults strike. */
import type { Chance, Clock } from "../shared/ports.ts";
import type { Clockwork } from "./clockwork.ts";
import type { Call, ChooseFault, Fault, Port, ProcessKind } from "./faults.ts";
import type { Seeded } from "./seeded.ts";

export type Process = {
  readonly id: number;
  readonly kind: ProcessKind;
  readonly clock: Clock;
  readonly chance: Chance;
  isAlive(): boolean;
  die(): void;
  /** The handler has returned: whatever it left behind is frozen. */
  finish(): void;
  /** Makes a call of a port: `apply` takes effect at one instant, then the answer is on its way. */
  call<Answer>(
    port: Port,
    what: string,
    apply: () => Promise<Answer>,
    wrong: WrongAnswers<Answer>,
    nodeId?: string,
  ): Promise<Answer>;
  /** Runs code of a tool, which may take its time: a crash after it falls when it has come to its end. */
  runCode<Result>(what: string, code: () => Promise<Result>): Promise<Result>;
};

/** What a caller hears when its call was struck; a thunk that throws rejects the call. */
export type WrongAnswers<Answer> = {
  readonly error: () => Promise<Answer>;
  readonly busy?: () => Promise<Answer>;
  readonly lostReply: () => Promise<Answer>;
};

export type ProcessOptions = {
  readonly id: number;
  readonly kind: ProcessKind;
  /** The node whose message it was given. */
  readonly nodeId?: string | undefined;
  readonly clockwork: Clockwork;
  readonly chance: Chance;
  readonly choose: ChooseFault;
  readonly nextCallIndex: () => number;
  /** How long a call takes, there and back. */
  readonly latencyMs: () => number;
  /** How far this machine's wall clock is off. */
  readonly clockOffsetMs: number;
  readonly onFault: (fault: Fault, call: Call) => void;
  readonly onDeath: () => void;
};

/** One call, with the type of its answer left out: it only passes through. */
type Strike = {
  readonly reply: (make: () => Promise<unknown>, afterMs: number) => void;
  readonly apply: () => Promise<unknown>;
  readonly error: () => Promise<unknown>;
  readonly busy: () => Promise<unknown>;
  readonly lostReply: () => Promise<unknown>;
  /** Whether it takes effect bit by bit, and not at one instant. */
  readonly isCode: boolean;
};

export function startProcess(options: ProcessOptions): Process {
  const { clockwork, choose } = options;
  let alive = true;
  let standsStillUntilMs = 0;

  const die = (): void => {
    if (!alive) return;
    alive = false;
    options.onDeath();
  };

  /** What happens to a process happens only while it lives and moves. */
  const at = (timeMs: number, run: () => void): void => {
    clockwork.at(timeMs, () => {
      if (!alive) return;
      if (standsStillUntilMs > clockwork.nowMs()) at(standsStillUntilMs, run);
      else run();
    });
  };

  const strike = (fault: Fault | undefined, backMs: number, calls: Strike): void => {
    if (fault === undefined) {
      calls.reply(calls.apply, backMs);
      return;
    }
    switch (fault.kind) {
      case "crash_before":
        die();
        return;
      case "crash_after":
        if (calls.isCode) void calls.apply().then(die, die);
        else {
          void calls.apply();
          die();
        }
        return;
      case "error":
        calls.reply(calls.error, backMs);
        return;
      case "busy":
        calls.reply(calls.busy, backMs);
        return;
      case "lost_reply":
        void calls.apply();
        calls.reply(calls.lostReply, backMs);
        return;
      case "delay":
        calls.reply(calls.apply, fault.ms);
        return;
      case "pause":
        standsStillUntilMs = clockwork.nowMs() + fault.ms;
        calls.reply(calls.apply, backMs);
        return;
      case "stall":
        standsStillUntilMs = clockwork.nowMs() + fault.ms;
        at(standsStillUntilMs, () => calls.reply(calls.apply, backMs));
        return;
      default:
        fault.kind satisfies never;
    }
  };

  const sleep = (ms: number, signal?: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      if (signal?.aborted === true) {
        resolve();
        return;
      }
      const wake = (): void => {
        signal?.removeEventListener("abort", wake);
        if (alive) resolve();
      };
      signal?.addEventListener("abort", wake);
      at(clockwork.nowMs() + ms, wake);
    });

  const make = <Answer>(
    call: Pick<Call, "port" | "what">,
    nodeId: string | undefined,
    calls: Omit<Strike, "reply">,
  ): Promise<Answer> =>
    new Promise((resolve, reject) => {
      // A process that is dead goes on in memory only: nothing that it calls happens.
      if (!alive) return;
      const about = nodeId === undefined ? {} : { nodeId };
      const made: Call = { index: options.nextCallIndex(), process: options.kind, ...call, ...about };
      const fault = choose(made);
      if (fault !== undefined) options.onFault(fault, made);
      const reply = (answer: () => Promise<unknown>, afterMs: number): void => {
        const answered = answer() as Promise<Answer>;
        // The answer is taken when it arrives; a process that died meanwhile never hears it.
        answered.catch(() => undefined);
        at(clockwork.nowMs() + afterMs, () => void answered.then(resolve, reject));
      };
      const wayMs = options.latencyMs() / 2;
      at(clockwork.nowMs() + wayMs, () => strike(fault, wayMs, { ...calls, reply }));
    });

  const fails = async (): Promise<never> => {
    throw new Error("injected: the tool's code failed");
  };

  return {
    id: options.id,
    kind: options.kind,
    clock: {
      nowMs: () => Math.floor(clockwork.nowMs() + options.clockOffsetMs),
      monotonicMs: () => clockwork.nowMs(),
      sleep,
    },
    chance: options.chance,
    isAlive: () => alive,
    die,
    finish: () => {
      alive = false;
    },
    call: (port, what, apply, wrong, nodeId = options.nodeId) =>
      make({ port, what }, nodeId, { ...wrong, busy: wrong.busy ?? wrong.error, apply, isCode: false }),
    runCode: (what, code) =>
      make({ port: "tool", what }, options.nodeId, {
        apply: code,
        error: fails,
        busy: fails,
        lostReply: fails,
        isCode: true,
      }),
  };
}

export const seededChance = (seed: Seeded): Chance => ({
  fraction: () => seed.fraction(),
  id: () => `${seed.below(2 ** 31).toString(36)}${seed.below(2 ** 31).toString(36)}`,
});
