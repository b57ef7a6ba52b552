/** A bucket on the local emulator, one for each test file. */
import { randomUUID } from "node:crypto";
import { CreateBucketCommand, type S3Client } from "@aws-sdk/client-s3";
import { s3Client } from "../../shared/adapters/s3-client.ts";
import { local } from "./emulator-table.ts";

export async function emulatorBucket(
  endpoint: string,
): Promise<{ readonly client: S3Client; readonly bucket: string }> {
  const client = s3Client({ endpoint, ...local });
  const bucket = `contract-${randomUUID()}`;
  await client.send(new CreateBucketCommand({ Bucket: bucket }));
  return { client, bucket };
}
