/** The client for large values is loaded when it is first needed, and what went wrong with that once is tried again. */
import { describe, expect, test } from "vitest";
import { blobsLoadedBy } from "../../../functions/values.ts";
import { memoryBlobs } from "../../../shared/adapters/memory-blobs.ts";

/** A client that cannot be loaded the first so many times. */
function setup(failures: number) {
  let loads = 0;
  const memory = memoryBlobs();
  const blobs = blobsLoadedBy(async () => {
    loads += 1;
    if (loads <= failures) throw new Error("too many open files");
    return memory;
  });
  return { blobs, memory, loads: () => loads };
}

describe("the client for large values", () => {
  test("is loaded by nobody who needs none, and once by all who do", async () => {
    const { blobs, loads } = setup(0);
    expect(loads()).toBe(0);
    await Promise.all([blobs.put("k", "v"), blobs.get("k"), blobs.get("other")]);
    await blobs.get("k");
    expect(loads()).toBe(1);
  });

  test("that could not be loaded for a put is loaded by the next try of it: the tool has acted, and its output is kept", async () => {
    const { blobs, memory } = setup(1);
    expect(await blobs.put("k", "v")).toEqual({ is: "busy", why: "Error: too many open files" });
    expect(await blobs.put("k", "v")).toEqual({ is: "stored" });
    expect(await memory.get("k")).toBe("v");
  });

  test("that could not be loaded for a get fails that one alone", async () => {
    const { blobs } = setup(1);
    await expect(blobs.get("k")).rejects.toThrow("too many open files");
    expect(await blobs.get("k")).toBeUndefined();
  });
});
