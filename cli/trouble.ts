/** What went wrong, in words that say what to do. AWS errors are known by name and code, which come through every wrapper. */
import { isClientError, isRefused } from "../client/errors.ts";
import { isUsageError } from "./usage.ts";
import { exitCodes } from "./world.ts";

type Environment = { readonly [name: string]: string | undefined };

export type Trouble = { readonly code: string; readonly message: string; readonly exitCode: number };

export function troubleOf(error: unknown, environment: Environment): Trouble {
  if (isUsageError(error)) return { code: error.code, message: error.message, exitCode: exitCodes.usage };
  if (isRefused(error) || isClientError(error)) {
    return { code: error.code, message: error.message, exitCode: exitCodes.failed };
  }
  const aws = awsTrouble(error, environment);
  if (aws !== undefined) return { ...aws, exitCode: exitCodes.failed };
  const message = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return { code: "unexpected", message: `${message} (set DEBUG=1 to see where)`, exitCode: exitCodes.failed };
}

const unreachableCodes: ReadonlySet<string> = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ETIMEDOUT",
  "EPIPE",
  "TimeoutError",
  "ERR_INVALID_URL",
]);
const credentialNames: ReadonlySet<string> = new Set([
  "CredentialsProviderError",
  "ExpiredToken",
  "ExpiredTokenException",
  "InvalidClientTokenId",
  "UnrecognizedClientException",
  "InvalidSignatureException",
  "SignatureDoesNotMatch",
  // S3's: docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html
  "InvalidAccessKeyId",
  "InvalidToken",
]);
const missingNames: ReadonlySet<string> = new Set([
  "ResourceNotFoundException",
  "QueueDoesNotExist",
  "AWS.SimpleQueueService.NonExistentQueue",
  "NoSuchBucket",
]);
const deniedNames: ReadonlySet<string> = new Set(["AccessDenied", "AccessDeniedException"]);

function awsTrouble(error: unknown, environment: Environment): Omit<Trouble, "exitCode"> | undefined {
  for (const cause of chainOf(error)) {
    const names = [cause.name, textOf(cause, "code")];
    const known = (set: ReadonlySet<string>) => names.find((name) => name !== undefined && set.has(name));
    const unreachable = known(unreachableCodes);
    if (unreachable !== undefined) {
      return { code: "aws_unreachable", message: unreachableText(unreachable, cause, environment) };
    }
    if (known(credentialNames) !== undefined) {
      return {
        code: "aws_credentials",
        message: `AWS credentials must be given and valid, got ${cause.name}: ${cause.message}; set AWS_PROFILE or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY`,
      };
    }
    if (known(missingNames) !== undefined) {
      return {
        code: "aws_missing",
        message: `table, queue and bucket must exist in this account and region, got ${cause.name}: ${cause.message}; check LEASEHOLD_TABLE, LEASEHOLD_COMMANDS_QUEUE_URL, LEASEHOLD_VALUES_BUCKET, AWS_REGION and ${endpointText(environment)}`,
      };
    }
    if (known(deniedNames) !== undefined) {
      return { code: "aws_denied", message: `these AWS credentials must be allowed to do this, got ${cause.message}` };
    }
    if (/^Region is missing/.test(cause.message)) {
      return { code: "aws_region", message: "AWS_REGION must be set, got nothing" };
    }
    if (/^Region not accepted/.test(cause.message)) {
      return { code: "aws_region", message: `AWS_REGION must be a region such as eu-central-1, got ${cause.message}` };
    }
  }
  return undefined;
}

function unreachableText(reason: string, cause: Error, environment: Environment): string {
  const [endpoint] = endpointsOf(environment);
  if (endpoint !== undefined) {
    return `${endpointText(environment)} must be an AWS endpoint that answers, got ${reason}; start one with "npm run local", or unset the variable to use AWS itself`;
  }
  const host = textOf(cause, "hostname") ?? textOf(cause, "address") ?? "its endpoint";
  return `AWS must be reachable at ${host}, got ${reason}; check the network and AWS_REGION, or set AWS_ENDPOINT_URL for a local one`;
}

/** The variables by which the SDK is led elsewhere, in its own order: a service's own one wins. */
const endpointVariables = [
  "AWS_ENDPOINT_URL_SQS",
  "AWS_ENDPOINT_URL_DYNAMODB",
  "AWS_ENDPOINT_URL_S3",
  "AWS_ENDPOINT_URL_CLOUDFORMATION",
  "AWS_ENDPOINT_URL",
];

const endpointsOf = (environment: Environment): readonly string[] =>
  endpointVariables.flatMap((name) => (environment[name] ? [`${name}=${environment[name]}`] : []));

const endpointText = (environment: Environment): string => endpointsOf(environment).join(", ") || "AWS_ENDPOINT_URL";

const CHAIN_LENGTH = 8;

/** The error and what caused it. */
function chainOf(error: unknown): readonly Error[] {
  const chain: Error[] = [];
  for (let each = error; each instanceof Error && chain.length < CHAIN_LENGTH; each = each.cause) chain.push(each);
  return chain;
}

function textOf(error: Error, field: string): string | undefined {
  const value: unknown = Reflect.get(error, field);
  return typeof value === "string" ? value : undefined;
}
