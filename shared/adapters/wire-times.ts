/**
 * How long a call may take on the wire. Without these the SDK waits without limit, and one silent socket would hold a
 * worker until its lease, or its whole invocation, is gone.
 */
import type { DynamoDBClientConfig } from "@aws-sdk/client-dynamodb";

type WireTimes = { readonly connectMs: number; readonly requestMs: number; readonly attempts: number };

/** Answers take tens of milliseconds; after 2 s of silence a second try must still fit into the commit buffer of 5 s. */
export const plainTimes: WireTimes = { connectMs: 1_000, requestMs: 2_000, attempts: 3 };

/** An object of a few MiB is on its way for some tenths of a second; a second try must still fit into the commit buffer. */
export const blobTimes: WireTimes = { connectMs: 1_000, requestMs: 2_000, attempts: 2 };

/** A heartbeat has a loop of its own, which knows how much of the lease is left: one try, and the answer is its to judge. */
export const heartbeatTimes: WireTimes = { connectMs: 1_000, requestMs: 2_000, attempts: 1 };

/** Where a client finds AWS; what is left out the SDK takes from its environment. */
export type Where = Pick<DynamoDBClientConfig, "endpoint" | "region" | "credentials">;

export const wireOptions = (times: WireTimes) => ({
  maxAttempts: times.attempts,
  requestHandler: {
    connectionTimeout: times.connectMs,
    requestTimeout: times.requestMs,
    /** Without it the SDK only prints a warning. */
    throwOnRequestTimeout: true,
    /** The request time-out ends with the answer's head; this one also ends a body that stalls. */
    socketTimeout: times.requestMs,
  },
});
