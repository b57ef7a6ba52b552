/** Which call a fault strikes, and what is remembered of it. */
import type { ProxiedCall } from "./call.ts";

/** `before` the call is sent to the target, or `after` the target has answered and before the caller hears of it. */
export type Moment = "before" | "after";

export type Fault =
  /** SIGKILL for the calling process. */
  | { readonly kill: Moment }
  /** SIGSTOP for the calling process. `before`: the call goes on once the process has been continued. */
  | { readonly stop: Moment }
  /** The call, or its reply, waits for `release()`. */
  | { readonly hold: Moment }
  /** The call reaches the target so much later. */
  | { readonly delayMs: number }
  /** The target never sees the call; the caller gets an error in AWS JSON, with `fields` beside its type and message. */
  | { readonly fail: AwsError }
  /** The target acts and the caller never hears of it: the connection breaks instead. */
  | { readonly swallow: true };

export type AwsError = {
  readonly status: number;
  readonly type: string;
  readonly message?: string;
  readonly fields?: { readonly [name: string]: unknown };
};

/** A call strikes when all that is given holds. A string alone is an action. */
export type Match =
  | string
  | {
      readonly action?: string;
      readonly where?: (call: ProxiedCall) => boolean;
      /** The call's place among all calls since the last reset, from 0. */
      readonly at?: number;
      /** Which of the fitting calls, from 1, or each of them. @default 1 */
      readonly nth?: number | "always";
    };

/** A generated case: kill the caller at its call of this index. */
export type KillCase = { readonly action: "kill"; readonly at: number; readonly when: Moment };

export type Strike = { readonly call: ProxiedCall; readonly pid: number | undefined };

export type Rule = {
  /** Resolves at the first strike: the process is dead or stopped, the call is held, the reply is swallowed. Rejects when the strike failed. */
  readonly struck: Promise<Strike>;
  readonly strikes: readonly Strike[];
  /** Lets go of what this rule holds, now and from now on, and continues the processes it stopped. */
  release(): Promise<void>;
};

/** For `where`: the body holds each of these strings. */
export const mentions =
  (...parts: readonly string[]) =>
  (call: ProxiedCall): boolean =>
    parts.every((part) => call.text.includes(part));

/** Answers, call by call, whether it is to be struck; counts the fitting calls. */
export function matcherOf(match: Match): (call: ProxiedCall) => boolean {
  const { action, where, at, nth = 1 } = typeof match === "string" ? { action: match } : match;
  let fitting = 0;
  return (call) => {
    const fits =
      (action === undefined || action === call.action) &&
      (at === undefined || at === call.index) &&
      (where === undefined || where(call));
    if (fits) fitting += 1;
    return fits && (nth === "always" || fitting === nth);
  };
}
