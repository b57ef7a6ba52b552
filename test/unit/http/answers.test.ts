/** What each answer says of the effect, and what of it becomes the output. */
import { describe, expect, test } from "vitest";
import type { HttpToolOptions } from "../../../functions/http/options.ts";
import { serving, thrownBy, toolFor } from "./asking.ts";

type Effect = NonNullable<HttpToolOptions["effect"]>;

async function answered(status: number, effect: Effect, method: string, headers: Record<string, string> = {}) {
  const server = await serving({ "/x": { status, headers, body: "why" } });
  return thrownBy(toolFor(server, { effect }).ask({ method, url: `${server.origin}/x` }));
}

describe.each([
  // status, to a POST: idempotent, at_most_once; to a GET of a tool that only reads
  [300, "never", "never", "never"],
  [301, "unknown", "unknown", "never"],
  [302, "unknown", "unknown", "never"],
  [303, "unknown", "unknown", "never"],
  [304, "never", "never", "never"],
  [307, "never", "never", "never"],
  [308, "never", "never", "never"],
  [400, "never", "never", "never"],
  [401, "never", "never", "never"],
  [402, "never", "never", "never"],
  [403, "never", "never", "never"],
  [404, "never", "never", "never"],
  [405, "never", "never", "never"],
  [408, "unknown", "unknown", "again"],
  [409, "unknown", "unknown", "again"],
  [410, "never", "never", "never"],
  [413, "never", "never", "never"],
  [422, "never", "never", "never"],
  [425, "unknown", "unknown", "again"],
  [429, "again", "again", "again"],
  [451, "never", "never", "never"],
  [499, "never", "never", "never"],
  [500, "unknown", "unknown", "again"],
  [501, "unknown", "unknown", "again"],
  [502, "unknown", "unknown", "again"],
  [503, "unknown", "unknown", "again"],
  [504, "unknown", "unknown", "again"],
  [599, "unknown", "unknown", "again"],
  [799, "unknown", "unknown", "again"],
])("%i", (status, idempotent, atMostOnce, readOnly) => {
  test(`means ${idempotent} for an idempotent POST, ${atMostOnce} for at_most_once, ${readOnly} for what only reads`, async () => {
    expect([
      (await answered(status, "idempotent", "POST")).says,
      (await answered(status, "at_most_once", "POST")).says,
      (await answered(status, "read_only", "GET")).says,
    ]).toEqual([idempotent, atMostOnce, readOnly]);
  });
});

test("a redirect to a GET has done nothing, whatever its number and the tool's class", async () => {
  for (const status of [301, 302, 303]) expect((await answered(status, "idempotent", "GET")).says).toBe("never");
});

test("a server that says when to come back is asked again then, and has done nothing", async () => {
  const headers = { "retry-after": "7" };
  for (const effect of ["idempotent", "at_most_once"] as const) {
    for (const status of [429, 503])
      expect(await answered(status, effect, "POST", headers)).toMatchObject({ says: "again", retryAfterMs: 7_000 });
  }
  expect(await answered(500, "read_only", "GET", headers)).toMatchObject({ says: "again", retryAfterMs: 7_000 });
  const far = await answered(429, "idempotent", "POST", { "retry-after": "99999999" });
  expect(far).toMatchObject({ says: "again", retryAfterMs: 3_600_000 });
});

test("a server that says at once, or a moment that has passed, is asked again after the back-off", async () => {
  for (const value of ["0", "Thu, 01 Jan 2015 00:00:00 GMT"]) {
    const told = await answered(503, "at_most_once", "POST", { "retry-after": value });
    expect(told).toMatchObject({ says: "again", retryAfterMs: undefined });
  }
});

test("an error names the request without its query, the status, and the beginning of what was said", async () => {
  const server = await serving({ "/x?token=abc": { status: 422, body: `no such card ${"x".repeat(9_000)}` } });
  const { message } = await thrownBy(toolFor(server).ask({ method: "POST", url: `${server.origin}/x?token=abc` }));
  expect(message.startsWith(`POST ${server.origin}/x answered 422: no such card xxx`)).toBe(true);
  expect(message).toHaveLength(500);
});

test("a refusal whose text breaks off is a refusal all the same", async () => {
  const server = await serving({
    "/x": (_request, response) => {
      response.writeHead(422, { "content-length": 100 });
      response.write("no such ", () => response.destroy());
    },
  });
  const { says, message } = await thrownBy(toolFor(server).ask({ method: "POST", url: `${server.origin}/x` }));
  expect([says, message]).toEqual(["never", `POST ${server.origin}/x answered 422: no such`]);
});

describe("an answer", () => {
  const read = async (
    headers: Record<string, string | string[]>,
    body: string | Buffer,
    readAs?: string,
    status = 200,
  ) => {
    const server = await serving({ "/": { status, headers, body } });
    const { ask, outputFault, tool } = toolFor(server, { responseBytes: 1_000 });
    const output = await ask({ method: "POST", url: server.origin, ...(readAs === undefined ? {} : { readAs }) });
    const fault = outputFault(output);
    return fault ?? { ...Object(tool.output.parse(output)) };
  };

  test.each<[string, string | undefined, string | Buffer, unknown]>([
    ["application/json", undefined, '{"a":[1,"ä"]}', { a: [1, "ä"] }],
    ["application/problem+json; charset=utf-8", undefined, "[null]", [null]],
    ["Application/JSON", undefined, '\ufeff"x"', "x"],
    ["application/json", undefined, "", null],
    ["application/json", "text", '{"id":12345678901234567890}', '{"id":12345678901234567890}'],
    ["text/plain", undefined, "ä\u0000", "ä\u0000"],
    ["text/plain", "json", "[1]", [1]],
    ["text/html; charset=ISO-8859-1", undefined, Buffer.from("\u00e4", "latin1"), "ä"],
    ["application/jsonp", undefined, "[1]", "[1]"],
    ["image/png", "base64", Buffer.from([0x89, 0x50, 0xff]), "iVD/"],
    ["", undefined, "plain", "plain"],
  ])("of type %j, read as %s, gives its body", async (type, readAs, body, expected) => {
    const headers = type === "" ? {} : { "content-type": type };
    expect(await read(headers, body, readAs)).toMatchObject({ status: 200, body: expected });
  });

  test.each<[string, Record<string, string>, string | Buffer, string]>([
    [
      "JSON that is none",
      { "content-type": "application/json" },
      "<html>",
      'body: must be JSON, got "<html>"; "readAs": "text" takes it',
    ],
    [
      "bytes that are no text",
      { "content-type": "image/png" },
      Buffer.from([0xff]),
      "body: must be text, got other bytes of content-type image/png",
    ],
    [
      "an unknown charset",
      { "content-type": "text/plain;charset=klingon" },
      "x",
      "body: must be text, got other bytes",
    ],
    ["no encoding and no JSON", { "content-encoding": "", "content-type": "application/json" }, "x", "must be JSON"],
    ["compressed bytes", { "content-encoding": "gzip" }, "x", "body: must come without content-encoding, got gzip"],
    ["1,001 bytes", {}, "x".repeat(1_001), "body: must be at most 1000 bytes, got more"],
  ])("with %s breaks the tool's schema, so that its request is not sent again", async (_what, headers, body, fault) => {
    expect(await read(headers, body)).toContain(fault);
  });

  test("with as many bytes as are allowed is taken", async () => {
    expect(await read({}, "x".repeat(1_000))).toMatchObject({ body: "x".repeat(1_000) });
  });

  test("that never ends is cut off at the limit", async () => {
    const server = await serving({
      "/": (_request, response) => {
        const more = () => response.write("x".repeat(10_000), () => response.destroyed || setImmediate(more));
        more();
      },
    });
    const { ask, outputFault } = toolFor(server, { responseBytes: 100_000 });
    expect(outputFault(await ask({ url: server.origin }))).toBe("body: must be at most 100000 bytes, got more");
  });

  test("keeps its headers in small letters, repeated ones joined, and no cookies", async () => {
    const headers = { "X-Request-Id": "7", "X-Many": ["a", "b"], "Set-Cookie": ["session=s3cret"] };
    const output = await read(headers, "");
    expect(output).toMatchObject({ body: null, headers: { "x-request-id": "7", "x-many": "a, b" } });
    expect(JSON.stringify(output)).not.toContain("s3cret");
  });

  test("keeps headers that are called like members of an object", async () => {
    const output = await read({ constructor: "a", ["__proto__"]: "b", tostring: "c" }, "");
    expect(Object.entries(Object(Reflect.get(Object(output), "headers")))).toEqual(
      expect.arrayContaining([
        ["constructor", "a"],
        ["tostring", "c"],
      ]),
    );
  });

  test("to a HEAD has no body", async () => {
    const server = await serving({ "/": { headers: { "content-type": "application/json", "content-length": "9" } } });
    expect(await toolFor(server).ask({ method: "HEAD", url: server.origin })).toMatchObject({
      status: 200,
      body: null,
    });
  });

  test("of 201 and 204 is a success too", async () => {
    expect(await read({}, "", undefined, 204)).toMatchObject({ status: 204, body: null });
    expect(await read({ location: "/orders/1" }, "", undefined, 201)).toMatchObject({
      headers: { location: "/orders/1" },
    });
  });
});
