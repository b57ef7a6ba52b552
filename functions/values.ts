import { onceSucceeded } from "../shared/once-succeeded.ts";
import type { Blobs } from "../shared/ports.ts";
import { variable } from "./surroundings.ts";

/**
 * For those functions that keep outputs. The client for S3 is a file of its own in the bundle, and is loaded at the first value
 * that is too large for the table: most cold starts never meet one.
 */
export const values = (): Blobs => {
  const bucket = variable("LEASEHOLD_VALUES_BUCKET");
  return blobsLoadedBy(() => import("./values-in-s3.ts").then(({ valuesInS3 }) => valuesInS3(bucket)));
};

/** @param load is called until it has succeeded once: a load that failed says nothing of the next one, and the function lives on. */
export function blobsLoadedBy(load: () => Promise<Blobs>): Blobs {
  const loaded = onceSucceeded(load);
  return {
    // Nothing has been put, and the tool has acted: its outcome must still be recorded, so this is no reason to throw.
    put: async (key, text) => {
      const answer = await loaded().catch((error: unknown) => ({ is: "busy", why: String(error) }) as const);
      return "is" in answer ? answer : answer.put(key, text);
    },
    get: async (key) => (await loaded()).get(key),
  };
}
