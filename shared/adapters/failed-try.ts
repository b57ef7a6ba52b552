/**
 * What an error of the SDK says about the write that was tried. Errors are known by their name, never by their class:
 * two copies of the SDK in one bundle have two classes.
 */

/**
 * `refused`: the condition of a single write did not hold. `cancelled`: a transaction with its reasons.
 * `busy`: not decided and surely not applied. `unknown`: perhaps applied. `wrong`: no state would have helped.
 */
export type FailedTry = "refused" | "cancelled" | "busy" | "unknown" | "wrong";

const busyNames: ReadonlySet<string> = new Set([
  "TransactionConflictException",
  "ReplicatedWriteConflictException",
  "ThrottlingException",
  "ThrottledException",
  "Throttling",
  "ProvisionedThroughputExceededException",
  "RequestLimitExceeded",
]);

const unknownNames: ReadonlySet<string> = new Set([
  "TimeoutError",
  "AbortError",
  "RequestTimeout",
  "RequestTimeoutException",
  "InternalServerError",
  "InternalFailure",
  "ServiceUnavailable",
  "ServiceUnavailableException",
  // Another try of the same `send` carries the same token and is still at work: whether it will apply is open.
  "TransactionInProgressException",
]);

/** Codes of Node for sockets, names, TLS and broken HTTP; `ERR_INVALID_ARG_TYPE` and its like are mistakes of a program. */
const brokenWire = /^(E(?!RR_)[A-Z]|HPE_|ERR_STREAM_|ERR_SSL_|ERR_TLS_|CERT_|UNABLE_TO_|DEPTH_ZERO_)/;

const field = (from: unknown, name: string): unknown =>
  typeof from === "object" && from !== null ? Reflect.get(from, name) : undefined;

export function failedTry(error: unknown): FailedTry {
  const name = field(error, "name");
  const code = field(error, "code");
  const status = field(field(error, "$metadata"), "httpStatusCode") ?? field(field(error, "$response"), "statusCode");
  if (name === "ConditionalCheckFailedException") return "refused";
  if (name === "TransactionCanceledException") return "cancelled";
  if (typeof name === "string" && busyNames.has(name)) return "busy";
  if (typeof name === "string" && unknownNames.has(name)) return "unknown";
  if (typeof status === "number" && status >= 500) return "unknown";
  // An answer came and could not be read, though it may have said yes.
  if (typeof status === "number" && status < 300) return "unknown";
  if (status === undefined && typeof code === "string" && brokenWire.test(code)) return "unknown";
  return "wrong";
}

/** Short text for logs; never the request. */
export const reasonOf = (error: unknown): string => {
  const message = field(error, "message");
  return `${String(field(error, "name") ?? "Error")}${typeof message === "string" && message !== "" ? `: ${message}` : ""}`;
};
