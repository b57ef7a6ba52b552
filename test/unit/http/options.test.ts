import { expect, test } from "vitest";
import { http, httpTool } from "../../../functions/http/index.ts";
import type { HttpToolOptions } from "../../../functions/http/options.ts";

const origin = "https://api.example.com";

test("the ready tool is idempotent and has neither secrets nor private origins", () => {
  expect(http).toMatchObject({ name: "http", effect: "idempotent" });
  const given = { method: "GET", url: `${origin}/`, headers: { authorization: { $env: "HOME" } } };
  expect(http.input.safeParse(given).error?.issues[0]).toMatchObject({
    path: ["headers", "authorization", "$env"],
    message: `must name one of the tool's secrets, none of which this tool has, got "HOME"`,
  });
});

test("a tool takes its author's retries, time limit, pool and key lifetime", () => {
  const tool = httpTool({ name: "pay", retry: { attempts: 2 }, timeoutMs: 9, pool: "slow", keyLifetimeMs: 3_600_000 });
  expect(tool).toMatchObject({
    effect: "idempotent",
    retry: { attempts: 2 },
    timeoutMs: 9,
    pool: "slow",
    keyLifetimeMs: 3_600_000,
  });
  expect(httpTool({ name: "look", effect: "read_only" })).toMatchObject({ effect: "read_only" });
  expect(httpTool({ name: "once", effect: "at_most_once" })).toMatchObject({ effect: "at_most_once" });
});

test.each<[Partial<HttpToolOptions>, string]>([
  [
    { origins: ["api.example.com"] },
    'origins must hold origins such as "https://api.example.com", got "api.example.com"',
  ],
  [{ origins: [`${origin}/`] }, `origins must hold origins such as "https://api.example.com", got "${origin}/"`],
  [{ origins: [`${origin}:443`] }, `origins must hold origins such as "https://api.example.com", got "${origin}:443"`],
  [{ origins: ["https://*.example.com/x"] }, `got "https://*.example.com/x"`],
  [
    { privateOrigins: ["ftp://inside"] },
    'privateOrigins must hold origins such as "https://api.example.com", got "ftp://inside"',
  ],
  [{ secrets: { PAY: [] } }, "secrets.PAY must name the origins that may be sent it, got none"],
  [{ secrets: { PAY: ["*"] } }, 'secrets.PAY must hold origins such as "https://api.example.com", got "*"'],
  [{ secrets: { "PAY-TOKEN": [origin] } }, 'secrets must name environment variables, got "PAY-TOKEN"'],
  [
    { secrets: { AWS_SESSION_TOKEN: [origin] } },
    "secrets must not name variables that begin with AWS_, _AWS_ or LEASEHOLD_",
  ],
  [{ secrets: { _AWS_XRAY: [origin] } }, "must not name variables that begin with AWS_"],
  [{ secrets: { LEASEHOLD_TABLE: [origin] } }, "must not name variables that begin with AWS_"],
  [{ headers: { Authorization: "Bearer abc" } }, 'headers.Authorization must be { "$env": name of a variable }'],
  [{ headers: { authorization: { $env: "PAY" } } }, 'headers.authorization must name one of secrets (), got "PAY"'],
  [{ headers: { "Idempotency-Key": "k" } }, "headers.Idempotency-Key must not be set: the tool sets it itself"],
  [{ headers: { Host: "inside" } }, "headers.Host must not be set: it belongs to the connection"],
  [{ headers: { "X-A": "1", "x-a": "2" } }, "headers.x-a must be there once, got it twice"],
  [{ headers: { "X-A": "1", x_a: "2" } }, "headers.x_a must be there once, got it twice"],
  [{ headers: { "x-a": "1\r\nx-b: 2" } }, "headers.x-a must hold printable ASCII only, got another character"],
  [{ redirects: 11 }, "redirects must be a whole number from 0 to 10, got 11"],
  [{ requestBytes: 0 }, "requestBytes must be a whole number from 1 to 5242880, got 0"],
  [{ responseBytes: 5_242_881 }, "responseBytes must be a whole number from 1 to 5242880, got 5242881"],
  [{ requestTimeoutMs: 1.5 }, "requestTimeoutMs must be a whole number from 1 to 900000, got 1.5"],
  [{ effect: "read_only", keyLifetimeMs: 1 }, "keyLifetimeMs is only for effect idempotent, got effect read_only"],
])("a tool with %j is not made, and its author is told why", (options, message) => {
  expect(() => httpTool({ name: "pay", ...options })).toThrow(message);
  expect(() => httpTool({ name: "pay", ...options })).toThrow('httpTool("pay"): ');
});
