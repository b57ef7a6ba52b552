/** One suite for both places where objects are kept. */
import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, inject, test } from "vitest";
import { memoryBlobs } from "../../shared/adapters/memory-blobs.ts";
import { s3Blobs } from "../../shared/adapters/s3-blobs.ts";
import { s3Client } from "../../shared/adapters/s3-client.ts";
import { contentHashOf, outputBlobKey } from "../../shared/keys.ts";
import { fixed } from "../../shared/limits.ts";
import type { Blobs } from "../../shared/ports.ts";
import { emulatorBucket } from "./emulator-bucket.ts";
import { local } from "./emulator-table.ts";
import { oddIds, oddTexts } from "./odd-texts.ts";

function blobsContract(blobs: () => Blobs): void {
  test("an object reads back as it was put, whatever is in it", async () => {
    for (const text of [...oddTexts.map((odd) => JSON.stringify(odd)), "\ufeff1", "é".repeat(9_000), "\u{1f600}"]) {
      const key = randomUUID();
      expect(await blobs().put(key, text)).toEqual({ is: "stored" });
      expect(await blobs().get(key)).toBe(text);
    }
  });

  test("an object that was never put is undefined", async () => {
    expect(await blobs().get(randomUUID())).toBeUndefined();
  });

  test("the second put of a key finds it there and changes nothing", async () => {
    const key = randomUUID();
    await blobs().put(key, "1");
    expect(await blobs().put(key, "1")).toEqual({ is: "there" });
    expect(await blobs().put(key, "2")).toEqual({ is: "there" });
    expect(await blobs().get(key)).toBe("1");
  });

  test("of many who put one key at once, one has stored it and all others hear that it is there", async () => {
    const key = randomUUID();
    const answers = await Promise.all(Array.from({ length: 8 }, () => blobs().put(key, "1")));
    expect(answers.map(({ is }) => is).sort()).toEqual(["stored", ...Array.from({ length: 7 }, () => "there")]);
  });

  test("the largest output reads back", async () => {
    const text = "x".repeat(fixed.outputBytes);
    const key = randomUUID();
    expect(await blobs().put(key, text)).toEqual({ is: "stored" });
    expect(contentHashOf((await blobs().get(key)) ?? "")).toBe(contentHashOf(text));
  });

  test("the outputs of nodes with any ids stay apart", async () => {
    const generation = randomUUID();
    const keys = oddIds.map((id) => outputBlobKey({ run_id: id, generation, node_id: id }, 1, contentHashOf(id)));
    for (const [at, key] of keys.entries()) await blobs().put(key, JSON.stringify(at));
    for (const [at, key] of keys.entries()) expect(await blobs().get(key)).toBe(JSON.stringify(at));
  });
}

describe("objects in memory", () => {
  const blobs = memoryBlobs();
  blobsContract(() => blobs);
});

describe("objects in S3", () => {
  let blobs: Blobs;
  beforeAll(async () => {
    blobs = s3Blobs(await emulatorBucket(inject("endpoint")));
  });
  blobsContract(() => blobs);

  test("a put is never an exception: a bucket that is not there, and a host that nobody is, are unknown", async () => {
    const client = s3Client({ endpoint: inject("endpoint"), ...local });
    expect(await s3Blobs({ client, bucket: `none-${randomUUID()}` }).put("k", "1")).toMatchObject({ is: "unknown" });
    const nobody = s3Client({ endpoint: "http://127.0.0.1:9", ...local });
    expect(await s3Blobs({ client: nobody, bucket: "none" }).put("k", "1")).toMatchObject({ is: "unknown" });
  });

  test("a read that fails says so, and is never taken for an object that is not there", async () => {
    const client = s3Client({ endpoint: inject("endpoint"), ...local });
    await expect(s3Blobs({ client, bucket: `none-${randomUUID()}` }).get("k")).rejects.toThrow();
    const nobody = s3Client({ endpoint: "http://127.0.0.1:9", ...local });
    await expect(s3Blobs({ client: nobody, bucket: "none" }).get("k")).rejects.toThrow();
  });
});
