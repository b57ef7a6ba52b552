import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  describeError,
  isNonRetryable,
  isRetryable,
  NonRetryableError,
  RetryableError,
  retryAfterOf,
} from "../../../shared/errors.ts";

/** Every field that is looked at throws. */
const hostile: object = Object.defineProperties(
  {},
  Object.fromEntries(
    ["name", "message", "code", "cause", "retryAfterMs", "stack", "toString"].map((name) => [
      name,
      {
        get: () => {
          throw new Error(`${name} is not to be read`);
        },
      },
    ]),
  ),
);
const revoked = (): object => {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
};

describe("what a tool says by what it throws", () => {
  test("is known by its code, from another copy of this library too, and never by its class", () => {
    expect([isRetryable(new RetryableError("x")), isNonRetryable(new RetryableError("x"))]).toEqual([true, false]);
    expect([isRetryable(new NonRetryableError("x")), isNonRetryable(new NonRetryableError("x"))]).toEqual([
      false,
      true,
    ]);
    expect(isRetryable({ code: "LEASEHOLD_RETRYABLE" })).toBe(true);
    expect(isNonRetryable({ code: "LEASEHOLD_NON_RETRYABLE" })).toBe(true);
    expect(isRetryable({ name: "RetryableError" })).toBe(false);
  });

  test.each([undefined, null, "LEASEHOLD_RETRYABLE", 5, Symbol("s"), new Error("x"), {}, () => 1])(
    "%o says nothing",
    (thrown) => {
      expect([isRetryable(thrown), isNonRetryable(thrown), retryAfterOf(thrown)]).toEqual([false, false, undefined]);
    },
  );

  test.each([
    ["getters that throw", hostile],
    ["a revoked proxy", revoked()],
  ])("%s say nothing, and bring nobody down", (_name, thrown) => {
    expect([isRetryable(thrown), isNonRetryable(thrown), retryAfterOf(thrown)]).toEqual([false, false, undefined]);
  });

  test("a wish for the delay is kept as whole milliseconds, and what is no delay is dropped", () => {
    expect(retryAfterOf(new RetryableError("x", { retryAfterMs: 1_500.2 }))).toBe(1_501);
    expect(retryAfterOf(new RetryableError("x", { retryAfterMs: 0 }))).toBe(0);
    for (const retryAfterMs of [-1, Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(new RetryableError("x", { retryAfterMs }).retryAfterMs).toBeUndefined();
      expect(retryAfterOf({ retryAfterMs })).toBeUndefined();
    }
    expect(retryAfterOf({ retryAfterMs: "5" })).toBeUndefined();
    expect(retryAfterOf(new RetryableError("x"))).toBeUndefined();
  });

  test("a delay too long to be stored is bounded to what a time can hold", () => {
    const delay = retryAfterOf(new RetryableError("x", { retryAfterMs: 1e300 }));
    expect(Number.isSafeInteger(1_800_000_000_000 + (delay ?? 0))).toBe(true);
  });

  test("the cause is kept, and is missing where none was given", () => {
    const cause = new Error("deeper");
    expect(new RetryableError("x", { cause }).cause).toBe(cause);
    expect(new NonRetryableError("x", { cause }).cause).toBe(cause);
    expect("cause" in new RetryableError("x")).toBe(false);
    expect("cause" in new NonRetryableError("x")).toBe(false);
  });
});

describe("what is stored of an error", () => {
  test("is its name, message, code and causes, and no other field of it", () => {
    const thrown = Object.assign(new TypeError("no", { cause: new RangeError("deep") }), { code: "E1", secret: "key" });
    expect(describeError(thrown)).toEqual({
      name: "TypeError",
      message: "no",
      code: "E1",
      cause: { name: "RangeError", message: "deep" },
    });
    expect(describeError({ code: 404 })).toEqual({ name: "Error", message: "", code: "404" });
    expect(describeError({ name: 5, message: ["x"], code: {} })).toEqual({ name: "5", message: "" });
  });

  test.each<[unknown, string]>([
    [undefined, "undefined"],
    [null, "null"],
    ["text", "text"],
    [5, "5"],
    [1n, "1"],
    [Symbol("s"), "Symbol(s)"],
  ])("of %o, which is no object, is its text", (thrown, message) => {
    expect(describeError(thrown)).toEqual({ name: "Thrown", message });
  });

  test.each([
    ["getters that throw", hostile],
    ["a revoked proxy", revoked()],
  ])("of %s is that it cannot be described", (_name, thrown) => {
    expect(describeError(thrown)).toEqual({ name: "Thrown", message: "an error that cannot be described" });
  });

  test("is bounded in each part, and says by an ellipsis that it was cut", () => {
    const long = "x".repeat(1_001);
    const described = describeError({ name: long, message: long, code: long });
    expect(described.message).toBe(`${"x".repeat(1_000)}…`);
    expect(described.name).toBe(`${"x".repeat(100)}…`);
    expect(described.code).toBe(`${"x".repeat(100)}…`);
    expect(describeError({ message: "x".repeat(1_000) }).message).toBe("x".repeat(1_000));
  });

  test("is cut between characters, never inside one", () => {
    expect(describeError({ message: `${"x".repeat(999)}😀😀` }).message).toBe(`${"x".repeat(999)}…`);
    expect(describeError({ message: `${"x".repeat(998)}😀😀` }).message).toBe(`${"x".repeat(998)}😀…`);
  });

  test("goes four errors deep, and ends there even where the causes go in a circle", () => {
    const thrown: { message: string; cause?: unknown } = { message: "round" };
    thrown.cause = thrown;
    const leaf = { name: "Error", message: "round" };
    expect(describeError(thrown)).toEqual({ ...leaf, cause: { ...leaf, cause: { ...leaf, cause: leaf } } });
  });

  test("a cause that is null, or a text, is described as thrown values are", () => {
    expect(describeError(new Error("x", { cause: null })).cause).toEqual({ name: "Thrown", message: "null" });
    expect(describeError(new Error("x", { cause: "y" })).cause).toEqual({ name: "Thrown", message: "y" });
    expect(describeError(new Error("x", { cause: hostile })).cause).toMatchObject({ name: "Thrown" });
  });

  test("can always be stored: well-formed and bounded, whatever the text, NUL and halves of pairs included", () => {
    const unit = fc.oneof(
      fc.constantFrom("\u0000", "\ud83d", "\ude00", "😀", "x", "\ufffd"),
      fc.string({ unit: "binary", maxLength: 1 }),
    );
    fc.assert(
      fc.property(fc.string({ unit, minLength: 90, maxLength: 1_100 }), (text) => {
        const { name, message, code = "" } = describeError({ name: text, message: text, code: text });
        for (const part of [name, message, code]) expect(part.isWellFormed()).toBe(true);
        expect(message.length).toBeLessThanOrEqual(1_001);
        expect(Math.max(name.length, code.length)).toBeLessThanOrEqual(101);
      }),
    );
    expect(describeError("a\u0000b\ud800").message).toBe("a\u0000b\ufffd");
  });
});
