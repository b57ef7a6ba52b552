import type { Blobs } from "../shared/ports.ts";
import { variable } from "./surroundings.ts";

/**
 * For those functions that keep outputs. The client for S3 is a file of its own in the bundle, and is loaded at the first value
 * that is too large for the table: most cold starts never meet one.
 */
export function values(): Blobs {
  const bucket = variable("LEASEHOLD_VALUES_BUCKET");
  let blobs: Promise<Blobs> | undefined;
  const loaded = (): Promise<Blobs> => {
    blobs ??= import("./values-in-s3.ts").then(({ valuesInS3 }) => valuesInS3(bucket));
    return blobs;
  };
  return {
    put: async (key, text) => (await loaded()).put(key, text),
    get: async (key) => (await loaded()).get(key),
  };
}
