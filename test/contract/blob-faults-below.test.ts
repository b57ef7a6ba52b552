/** What the S3 adapter makes of each answer of the wire, said by a server that says it on purpose. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { afterEach, expect, test } from "vitest";
import { s3Blobs } from "../../shared/adapters/s3-blobs.ts";
import { s3Client } from "../../shared/adapters/s3-client.ts";
import { blobTimes } from "../../shared/adapters/wire-times.ts";
import { defaultLimits } from "../../shared/limits.ts";
import type { Blobs } from "../../shared/ports.ts";
import { local } from "./emulator-table.ts";

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

/** Each request is answered by the next answer, and the last one stays. */
async function answering(...answers: readonly Answer[]): Promise<{ blobs: Blobs; seen: IncomingMessage[] }> {
  const seen: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    const answer = answers[Math.min(seen.length, answers.length - 1)];
    seen.push(request);
    request.resume().on("end", () => answer?.(request, response));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the system gave no port");
  closing.push(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  // By name: with the bucket before the host it would be a name that nobody resolves.
  const client = s3Client({ endpoint: `http://localhost:${address.port}`, ...local });
  return { blobs: s3Blobs({ client, bucket: "values" }), seen };
}

const saying =
  (status: number, code: string): Answer =>
  (_request, response) => {
    response.writeHead(status, { "content-type": "application/xml" });
    response.end(`<?xml version="1.0"?><Error><Code>${code}</Code><Message>told so</Message></Error>`);
  };
const done: Answer = (_request, response) => response.writeHead(200).end();
const hangsUp: Answer = (request) => request.socket.destroy();
const silent: Answer = () => {};

test("a put asks that nothing be written over, with the bucket in the path", async () => {
  const { blobs, seen } = await answering(done);
  expect(await blobs.put("run/node/1/hash", "1")).toEqual({ is: "stored" });
  expect(seen.map(({ method, url, headers }) => [method, url?.split("?")[0], headers["if-none-match"]])).toEqual([
    ["PUT", "/values/run/node/1/hash", "*"],
  ]);
});

test.each<[string, Answer, string]>([
  ["412, the object is there", saying(412, "PreconditionFailed"), "there"],
  ["409, a race with a delete", saying(409, "ConditionalRequestConflict"), "busy"],
  ["503, a throttle", saying(503, "SlowDown"), "busy"],
  ["500", saying(500, "InternalError"), "unknown"],
  ["403, a right that is missing", saying(403, "AccessDenied"), "unknown"],
  ["a connection that breaks", hangsUp, "unknown"],
])("a put that is answered by %s", async (_name, answer, is) => {
  const { blobs } = await answering(answer);
  expect((await blobs.put("k", "1")).is).toBe(is);
});

test("a put whose answer was lost finds its own object there", async () => {
  const { blobs, seen } = await answering(hangsUp, saying(412, "PreconditionFailed"));
  expect(await blobs.put("k", "1")).toEqual({ is: "there" });
  expect(seen).toHaveLength(2);
});

test("a put that nobody answers is given up in time to record that", async () => {
  const { blobs } = await answering(silent);
  const startedAtMs = performance.now();
  expect((await blobs.put("k", "1")).is).toBe("unknown");
  expect(performance.now() - startedAtMs).toBeLessThan(defaultLimits.commitBufferMs);
  expect(blobTimes.requestMs * blobTimes.attempts).toBeLessThan(defaultLimits.commitBufferMs);
});

test("a read tells an object that is not there from one that cannot be read now", async () => {
  const missing = await answering(saying(404, "NoSuchKey"));
  expect(await missing.blobs.get("k")).toBeUndefined();
  for (const answer of [saying(500, "InternalError"), saying(404, "NoSuchBucket"), hangsUp]) {
    const { blobs } = await answering(answer);
    await expect(blobs.get("k")).rejects.toThrow();
  }
});

test("a read that is denied says both what may be missing: S3 tells an object that is not there in the same way", async () => {
  const { blobs } = await answering(saying(403, "AccessDenied"));
  await expect(blobs.get("k")).rejects.toThrow("object k is not there, or there is no right to read it");
});

test("a read whose body breaks off is no text", async () => {
  const { blobs } = await answering((_request, response) => {
    response.writeHead(200, { "content-length": "100" });
    response.write('"half', () => response.destroy());
  });
  await expect(blobs.get("k")).rejects.toThrow();
});
