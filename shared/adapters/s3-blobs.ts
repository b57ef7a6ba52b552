/** Values as objects of one bucket, each written once. */
import { GetObjectCommand, PutObjectCommand, type S3Client } from "@aws-sdk/client-s3";
import type { BlobAnswer, Blobs } from "../ports.ts";
import { failedTry, reasonOf } from "./failed-try.ts";

export type S3BlobsOptions = { readonly client: S3Client; readonly bucket: string };

export const s3Blobs = ({ client, bucket }: S3BlobsOptions): Blobs => ({
  put: async (key, text) => {
    const put = new PutObjectCommand({
      Bucket: bucket,
      Key: key,
      Body: Buffer.from(text, "utf8"),
      ContentType: "application/json",
      // Whoever comes second changes nothing (conditional-writes.html).
      IfNoneMatch: "*",
    });
    try {
      await client.send(put);
      return { is: "stored" };
    } catch (error) {
      return answerOf(error);
    }
  },
  get: async (key) => {
    try {
      const { Body } = await client.send(new GetObjectCommand({ Bucket: bucket, Key: key }));
      if (Body === undefined) throw new Error(`object ${key} came without a body`);
      // Not as text: a decoder of the web's kind would take a byte order mark away.
      return Buffer.from(await Body.transformToByteArray()).toString("utf8");
    } catch (error) {
      if (nameOf(error) === "NoSuchKey") return undefined;
      // Whoever may not list the bucket is told no more than this (API_GetObject.html).
      if (nameOf(error) === "AccessDenied") {
        throw new Error(`object ${key} is not there, or there is no right to read it: S3 answers both alike`, {
          cause: error,
        });
      }
      throw error;
    }
  },
});

const nameOf = (error: unknown): unknown =>
  typeof error === "object" && error !== null ? Reflect.get(error, "name") : undefined;

/** `ConditionalRequestConflict` is the 409 of a race with a delete; `SlowDown` is a throttle that comes as 503. */
const busyNames: ReadonlySet<unknown> = new Set(["ConditionalRequestConflict", "OperationAborted", "SlowDown"]);

function answerOf(error: unknown): BlobAnswer {
  const name = nameOf(error);
  if (name === "PreconditionFailed") return { is: "there" };
  const why = reasonOf(error);
  if (busyNames.has(name) || failedTry(error) === "busy") return { is: "busy", why };
  // A missing right or bucket may be put right while the tries go on, and a repeat does no harm.
  return { is: "unknown", why };
}
