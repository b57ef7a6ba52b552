/** All that brings the client for S3 into a bundle. */
import { s3Blobs } from "../shared/adapters/s3-blobs.ts";
import { s3Client } from "../shared/adapters/s3-client.ts";
import type { Blobs } from "../shared/ports.ts";

export const valuesInS3 = (bucket: string): Blobs => s3Blobs({ client: s3Client(), bucket });
