/** The errors that a tool throws to say what it knows, and what is stored of any error. Recognised by code, never by class identity. */

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

const codeOf = (error: unknown): unknown =>
  typeof error === "object" && error !== null ? Reflect.get(error, "code") : undefined;

export const isRetryable = (error: unknown): boolean => codeOf(error) === RETRYABLE;
export const isNonRetryable = (error: unknown): boolean => codeOf(error) === NON_RETRYABLE;

/** @returns the delay that a RetryableError asked for, a whole number of milliseconds, or undefined. */
export function retryAfterOf(error: unknown): number | undefined {
  if (typeof error !== "object" || error === null) return undefined;
  const value: unknown = Reflect.get(error, "retryAfterMs");
  return typeof value === "number" && Number.isFinite(value) && value >= 0 ? Math.ceil(value) : undefined;
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
