/** The client for objects. */
import { S3Client } from "@aws-sdk/client-s3";
import { blobTimes, type Where, wireOptions } from "./wire-times.ts";

/**
 * Where an endpoint is set, the bucket goes into the path: before the host it would make a name that nobody resolves, since
 * whoever sets one speaks with an AWS on this machine.
 */
const hasEndpoint = (where: Where): boolean =>
  [where.endpoint, process.env.AWS_ENDPOINT_URL_S3, process.env.AWS_ENDPOINT_URL].some(
    (endpoint) => endpoint !== undefined && endpoint !== "",
  );

export const s3Client = (where: Where = {}): S3Client =>
  new S3Client({ ...wireOptions(blobTimes), forcePathStyle: hasEndpoint(where), ...where });
