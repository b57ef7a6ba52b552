/** The errors that a tool throws to say what it knows, and what is stored of any error. Recognised by code, never by class identity. */
import { fixed } from "./limits.ts";

const RETRYABLE = "LEASEHOLD_RETRYABLE";
const NON_RETRYABLE = "LEASEHOLD_NON_RETRYABLE";

/** Certain: no effect happened, and trying again may help. */
export class RetryableError extends Error {
  override readonly name = "RetryableError";
  readonly code = RETRYABLE;
  /** Wait at least so long before the next attempt; the back-off is used where it is missing. */
  readonly retryAfterMs: number | undefined;

  constructor(message: string, options: { readonly retryAfterMs?: number; readonly cause?: unknown } = {}) {
    super(message, "cause" in options ? { cause: options.cause } : undefined);
    const { retryAfterMs } = options;
    this.retryAfterMs =
      retryAfterMs !== undefined && Number.isFinite(retryAfterMs) && retryAfterMs >= 0 ? retryAfterMs : undefined;
  }
}

/** Certain: no effect happened, and trying again cannot help. The node ends FAILED. */
export class NonRetryableError extends Error {
  override readonly name = "NonRetryableError";
  readonly code = NON_RETRYABLE;

  constructor(message: string, options: { readonly cause?: unknown } = {}) {
    super(message, "cause" in options ? { cause: options.cause } : undefined);
  }
}

/** A field of whatever was thrown; one that cannot be read counts as missing, since a getter may throw as well. */
function fieldOf(error: unknown, name: string): unknown {
  if (typeof error !== "object" || error === null) return undefined;
  try {
    return Reflect.get(error, name);
  } catch {
    return undefined;
  }
}

export const isRetryable = (error: unknown): boolean => fieldOf(error, "code") === RETRYABLE;
export const isNonRetryable = (error: unknown): boolean => fieldOf(error, "code") === NON_RETRYABLE;

/** For logs only: a stack may show what is not to be stored. */
export const stackOf = (error: unknown): string | undefined => {
  const stack = fieldOf(error, "stack");
  return typeof stack === "string" ? stack : undefined;
};

/** @returns the delay that a RetryableError asked for, in whole milliseconds and never longer than a run, or undefined. */
export function retryAfterOf(error: unknown): number | undefined {
  const value = fieldOf(error, "retryAfterMs");
  if (typeof value !== "number" || !Number.isFinite(value) || value < 0) return undefined;
  return Math.min(Math.ceil(value), fixed.runDeadlineMs);
}

/** What is stored of an error: bounded, and never any other field of it, since those may hold secrets. */
export type ErrorRecord = {
  readonly name: string;
  readonly message: string;
  readonly code?: string;
  readonly cause?: ErrorRecord;
};

const causeDepth = 4;
const messageLength = 1_000;
const nameLength = 100;

/** Cut between characters, never inside one, and made well-formed, so that it can always be stored. */
const cut = (text: string, length: number): string => {
  const whole = text.toWellFormed();
  return whole.length <= length
    ? whole
    : `${whole
        .slice(0, length)
        .toWellFormed()
        .replace(/\uFFFD$/u, "")}…`;
};

/** Describes whatever was thrown: an Error, a string, null, undefined. Never throws itself. */
export function describeError(thrown: unknown, depth = causeDepth): ErrorRecord {
  try {
    if (typeof thrown !== "object" || thrown === null)
      return { name: "Thrown", message: cut(String(thrown), messageLength) };
    const field = (name: string): string | undefined => {
      const value: unknown = Reflect.get(thrown, name);
      return typeof value === "string" || typeof value === "number" ? String(value) : undefined;
    };
    const code = field("code");
    const cause: unknown = Reflect.get(thrown, "cause");
    return {
      name: cut(field("name") ?? "Error", nameLength),
      message: cut(field("message") ?? "", messageLength),
      ...(code === undefined ? {} : { code: cut(code, nameLength) }),
      ...(cause === undefined || depth <= 1 ? {} : { cause: describeError(cause, depth - 1) }),
    };
  } catch {
    return { name: "Thrown", message: "an error that cannot be described" };
  }
}
