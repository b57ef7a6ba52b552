import { expect, test } from "vitest";
import { type FailedTry, failedTry } from "../../../shared/adapters/failed-try.ts";

test.each<[string, unknown, FailedTry]>([
  ["a time-out", Object.assign(new Error("x"), { name: "TimeoutError", code: "ETIMEDOUT" }), "unknown"],
  ["a name that was not found", Object.assign(new Error("x"), { code: "ENOTFOUND" }), "unknown"],
  ["a socket cut short", Object.assign(new Error("aborted"), { code: "ECONNRESET" }), "unknown"],
  ["broken HTTP", Object.assign(new Error("x"), { code: "HPE_INVALID_CONSTANT" }), "unknown"],
  ["an unreadable yes", Object.assign(new SyntaxError("x"), { $metadata: { httpStatusCode: 200 } }), "unknown"],
  ["an unnamed server fault", { name: "Error", $metadata: { httpStatusCode: 502 } }, "unknown"],
  ["another copy's throttle", { name: "ThrottlingException" }, "busy"],
  ["a throttle that came as 503", { name: "ThrottlingException", $metadata: { httpStatusCode: 503 } }, "busy"],
  ["missing credentials", Object.assign(new Error("x"), { name: "CredentialsProviderError" }), "wrong"],
  ["a mistake of a program", Object.assign(new TypeError("x"), { code: "ERR_INVALID_ARG_TYPE" }), "wrong"],
  ["a thrown text", "text", "wrong"],
  ["nothing", undefined, "wrong"],
])("%s", (_, error, expected) => {
  expect(failedTry(error)).toBe(expected);
});
