import { expect, test } from "vitest";
import { deploymentOf } from "../client/deployment.ts";
import { run, runWith } from "./program.ts";

const failing = (fields: object) =>
  deploymentOf({ send: () => Promise.reject(Object.assign(new Error("wire text"), fields)) }).client;
const graph = { nodes: [{ node_id: "a", tool: "noop" }] };

const local = { AWS_ENDPOINT_URL: "http://127.0.0.1:4566" };

test.each<[string, object, Record<string, string>, RegExp]>([
  [
    "a refused connection",
    { code: "ECONNREFUSED" },
    local,
    /AWS_ENDPOINT_URL=http:\/\/127\.0\.0\.1:4566 must .* got ECONNREFUSED; start one with "npm run local"/,
  ],
  [
    "a refused connection under a cause",
    { cause: Object.assign(new Error(), { code: "ECONNREFUSED" }) },
    local,
    /ECONNREFUSED/,
  ],
  [
    "a service's own endpoint",
    { code: "ECONNRESET" },
    { ...local, AWS_ENDPOINT_URL_SQS: "http://q" },
    /AWS_ENDPOINT_URL_SQS=http:\/\/q, AWS_ENDPOINT_URL=/,
  ],
  ["silence", { name: "TimeoutError" }, local, /got TimeoutError/],
  [
    "an unknown host",
    { code: "ENOTFOUND", hostname: "sqs.nowhere.amazonaws.com" },
    {},
    /reachable at sqs\.nowhere\.amazonaws\.com, got ENOTFOUND; check the network and AWS_REGION/,
  ],
  ["no credentials", { name: "CredentialsProviderError" }, {}, /credentials must be given and valid.*set AWS_PROFILE/],
  ["no region", { message: "Region is missing" }, {}, /AWS_REGION must be set, got nothing/],
  [
    "no such queue",
    { name: "QueueDoesNotExist" },
    local,
    /must exist in this account and region.*LEASEHOLD_COMMANDS_QUEUE_URL/,
  ],
  [
    "no such bucket",
    { name: "NoSuchBucket" },
    local,
    /table, queue and bucket must exist in this account and region, got NoSuchBucket.*LEASEHOLD_VALUES_BUCKET/,
  ],
  ["a key that S3 does not know", { name: "InvalidAccessKeyId" }, {}, /credentials must be given and valid/],
  [
    "an endpoint that is no URL",
    { name: "TypeError", code: "ERR_INVALID_URL" },
    { AWS_ENDPOINT_URL: "localhost" },
    /AWS_ENDPOINT_URL=localhost must be an AWS endpoint that answers, got ERR_INVALID_URL/,
  ],
  [
    "a region that is none",
    { message: 'Region not accepted: region="eu_west 1" is not a valid hostname component.' },
    {},
    /AWS_REGION must be a region such as eu-central-1, got.*"eu_west 1"/,
  ],
  [
    "S3's own endpoint",
    { code: "ECONNRESET" },
    { AWS_ENDPOINT_URL_S3: "http://s" },
    /AWS_ENDPOINT_URL_S3=http:\/\/s must/,
  ],
  ["no permission", { name: "AccessDenied" }, {}, /must be allowed to do this, got wire text/],
  ["anything else", { name: "OddError" }, {}, /OddError: wire text \(set DEBUG=1 to see where\)/],
])("%s is told in one line, with what to do and without a stack trace", async (_, fields, environment, message) => {
  const { exitCode, stdout, stderr } = await run(failing(fields), ["submit", "-"], {
    readInput: async () => JSON.stringify(graph),
    environment,
  });
  expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
  expect(stderr).toMatch(message);
  expect(stderr.trimEnd().split("\n")).toHaveLength(1);
});

test("with DEBUG the stack trace follows", async () => {
  const { stderr } = await run(failing({}), ["cancel", "r"], { environment: { DEBUG: "1" } });
  expect(stderr).toContain("    at ");
});

test("with --json trouble has a code", async () => {
  const { stderr } = await runWith(failing({ code: "ECONNREFUSED" }), graph, ["submit", "-", "--json"]);
  expect(JSON.parse(stderr)).toMatchObject({ error: { code: "aws_unreachable" } });
});
