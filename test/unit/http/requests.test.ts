/** What is sent, and what a node may not ask for. */
import { afterEach, describe, expect, test } from "vitest";
import { contextWith, type Given, serving, thrownBy, toolFor, toolWith } from "./asking.ts";

const origin = "https://api.example.com";

afterEach(() => {
  delete process.env.PAY_TOKEN;
});

describe("a request", () => {
  test("carries the operation's id as its key and the fencing token, and asks for plain bytes on a connection of its own", async () => {
    const server = await serving({ "/orders": { status: 201 } });
    const { ask } = toolFor(server);
    await ask({ method: "POST", url: `${server.origin}/orders`, body: { cents: 500 } });
    expect(server.arrived).toEqual([
      {
        method: "POST",
        path: "/orders",
        body: '{"cents":500}',
        headers: {
          host: `127.0.0.1:${server.port}`,
          "idempotency-key": "op-1",
          "fencing-token": "3",
          "accept-encoding": "identity",
          "user-agent": "leasehold",
          "content-type": "application/json",
          "content-length": "13",
          connection: "close",
        },
      },
    ]);
  });

  test("of a second attempt carries the same key and a higher token", async () => {
    const server = await serving({ "/orders": {} });
    const { ask } = toolFor(server);
    const asked = { method: "POST", url: `${server.origin}/orders` };
    await ask(asked);
    await ask(asked, contextWith({ attempt: 2, fencingToken: 4 }));
    expect(server.arrived.map(({ headers }) => [headers["idempotency-key"], headers["fencing-token"]])).toEqual([
      ["op-1", "3"],
      ["op-1", "4"],
    ]);
    expect(server.connections()).toBe(2);
  });

  test.each([
    [{ a: ["ä", 1, null] }, '{"a":["ä",1,null]}', "application/json"],
    ["a text, ä", "a text, ä", "text/plain; charset=utf-8"],
    [null, "null", "application/json"],
    [undefined, "", undefined],
  ])("with the body %j sends %j", async (body, sent, type) => {
    const server = await serving({ "/": {} });
    await toolFor(server).ask({ method: "PUT", url: server.origin, ...(body === undefined ? {} : { body }) });
    expect(server.arrived[0]?.body).toBe(sent);
    expect(server.arrived[0]?.headers["content-type"]).toBe(type);
    expect(server.arrived[0]?.headers["content-length"]).toBe(String(Buffer.byteLength(sent)));
  });

  test("that only asks says nothing of a body", async () => {
    const server = await serving({ "/": {} });
    for (const method of ["GET", "HEAD"]) await toolFor(server).ask({ method, url: server.origin });
    for (const { headers } of server.arrived) {
      expect(headers).not.toHaveProperty("content-length");
      expect(headers).not.toHaveProperty("content-type");
    }
  });

  test("a node may name its content type and its user agent", async () => {
    const server = await serving({ "/": {} });
    const headers = { "Content-Type": "text/csv", "User-Agent": "shop", "X-Trace": "a" };
    await toolFor(server).ask({ method: "PUT", url: server.origin, headers, body: "a;b" });
    expect(server.arrived[0]?.headers).toMatchObject({
      "content-type": "text/csv",
      "user-agent": "shop",
      "x-trace": "a",
    });
  });

  test("a proxy of the environment is not asked", async () => {
    const server = await serving({ "/": {} });
    const proxy = await serving({});
    for (const name of ["http_proxy", "HTTP_PROXY"]) process.env[name] = proxy.origin;
    await toolFor(server).ask({ url: server.origin });
    for (const name of ["http_proxy", "HTTP_PROXY"]) delete process.env[name];
    expect([server.connections(), proxy.connections()]).toEqual([1, 0]);
  });

  test("with a larger body than its tool allows is not sent", async () => {
    const server = await serving({ "/": {} });
    const { ask } = toolFor(server, { requestBytes: 10 });
    const { says, message } = await thrownBy(ask({ method: "POST", url: server.origin, body: "eleven more" }));
    expect([says, message]).toEqual(["never", "body must be at most 10 bytes, got 11"]);
    await ask({ method: "POST", url: server.origin, body: "ten bytes." });
    expect(server.arrived).toHaveLength(1);
  });
});

describe("a secret", () => {
  const secretive = async (status = 200) => {
    const server = await serving({ "/": { status, body: "denied: Bearer s3cret is wrong, s3cret", headers: {} } });
    const secrets = { PAY_TOKEN: [server.origin] };
    return { server, secrets, given: { url: server.origin, headers: { Authorization: { $env: "PAY_TOKEN" } } } };
  };

  test("is sent from the worker's environment", async () => {
    const { server, secrets, given } = await secretive();
    process.env.PAY_TOKEN = "Bearer s3cret";
    await toolFor(server, { secrets }).ask(given);
    await toolFor(server, { secrets, headers: { authorization: { $env: "PAY_TOKEN" } } }).ask({ url: server.origin });
    expect(server.arrived.map(({ headers }) => headers.authorization)).toEqual(["Bearer s3cret", "Bearer s3cret"]);
  });

  test("that the server sends back stands in no error", async () => {
    const { server, secrets, given } = await secretive(403);
    process.env.PAY_TOKEN = "s3cret";
    const { message } = await thrownBy(toolFor(server, { secrets }).ask(given));
    expect(message).toBe(`GET ${server.origin}/ answered 403: denied: Bearer [PAY_TOKEN] is wrong, [PAY_TOKEN]`);
  });

  test.each([
    [undefined, "the environment variable PAY_TOKEN must be set, got nothing"],
    ["", "the environment variable PAY_TOKEN must be set, got nothing"],
    ["s3cret\n", "the environment variable PAY_TOKEN must hold printable ASCII only, got another character"],
  ])("that is %j there ends the node with the variable's name, and nothing is sent", async (value, expected) => {
    const { server, secrets, given } = await secretive();
    if (value !== undefined) process.env.PAY_TOKEN = value;
    const { says, message } = await thrownBy(toolFor(server, { secrets }).ask(given));
    expect([says, message]).toEqual(["never", expected]);
    expect(server.connections()).toBe(0);
  });

  test("of the tool's own is not sent to an origin that it is not for", async () => {
    const server = await serving({});
    process.env.PAY_TOKEN = "s3cret";
    const { ask } = toolFor(server, { secrets: { PAY_TOKEN: [origin] }, headers: { "x-key": { $env: "PAY_TOKEN" } } });
    const { says, message } = await thrownBy(ask({ url: server.origin }));
    expect([says, message]).toEqual([
      "never",
      `headers.x-key: PAY_TOKEN may be sent to ${origin} only, got ${server.origin}`,
    ]);
    expect(server.connections()).toBe(0);
  });
});

const closed = toolWith({ origins: [origin], privateOrigins: ["http://10.0.0.5:8080"] });
const bound = toolWith({ secrets: { PAY_TOKEN: [origin] }, headers: { "x-tenant": "7" } });
const reading = toolWith({ effect: "read_only" });
const any = toolWith();

test.each<[string, ReturnType<typeof toolWith>, Given, string]>([
  ["no address", any, { url: "/orders" }, 'url: must be an absolute address, got "/orders"'],
  [
    "plain http",
    any,
    { url: "http://api.example.com/" },
    "url: must begin with https: and name no port, unless the tool allows its origin, got http://api.example.com",
  ],
  ["another port", any, { url: `${origin}:8443/` }, `unless the tool allows its origin, got ${origin}:8443`],
  ["a file", any, { url: "file:///etc/passwd" }, "url: must begin with https:, got file:"],
  ["data", any, { url: "data:,x" }, "url: must begin with https:, got data:"],
  ["a blob of an origin that is named", closed, { url: `blob:${origin}/x` }, "url: must begin with https:, got blob:"],
  ["a blob of a private one", closed, { url: "blob:http://10.0.0.5:8080/x" }, "must begin with https:, got blob:"],
  [
    "a password in what is no address",
    any,
    { url: "https://ada:pw@api.example.com:99999/" },
    "url.password: must not be there, and the rest an absolute address",
  ],
  ["a user", any, { url: "https://ada@api.example.com/" }, "url.username: must not stand in the address"],
  ["a password", any, { url: "https://:pw@api.example.com/" }, "url.password: must not stand in the address"],
  [
    "an origin that is not named",
    closed,
    { url: "https://api.example.com.evil.example/" },
    `url: must be of ${origin}, http://10.0.0.5:8080, got https://api.example.com.evil.example`,
  ],
  ["a private origin's other port", closed, { url: "http://10.0.0.5/" }, "got http://10.0.0.5"],
  ["a method in small letters", any, { method: "post", url: origin }, "method: Invalid option"],
  ["a POST of a tool that only reads", reading, { method: "POST", url: origin }, "method: Invalid option"],
  ["a GET with a body", any, { url: origin, body: "x" }, "body: must not be there where method is GET"],
  [
    "a HEAD with a body",
    any,
    { method: "HEAD", url: origin, body: {} },
    "body: must not be there where method is HEAD",
  ],
  [
    "an idempotency key of its own",
    any,
    { url: origin, headers: { "Idempotency-KEY": "mine" } },
    "headers.Idempotency-KEY.name: must not be set: the tool sets it itself",
  ],
  [
    "a fencing token",
    any,
    { url: origin, headers: { "fencing-token": "9" } },
    "must not be set: the tool sets it itself",
  ],
  [
    "an encoding",
    any,
    { url: origin, headers: { "accept-encoding": "gzip" } },
    "must not be set: the tool sets it itself",
  ],
  [
    "a host",
    any,
    { url: origin, headers: { Host: "inside" } },
    "headers.Host.name: must not be set: it belongs to the connection",
  ],
  ["a length", any, { url: origin, headers: { "content-length": "1" } }, "it belongs to the connection"],
  ["a chunked body", any, { url: origin, headers: { "Transfer-Encoding": "chunked" } }, "it belongs to the connection"],
  ["an upgrade", any, { url: origin, headers: { upgrade: "h2c" } }, "it belongs to the connection"],
  ["a proxy's password", any, { url: origin, headers: { "proxy-authorization": "x" } }, "it belongs to the connection"],
  ["a header with a blank", any, { url: origin, headers: { "x y": "1" } }, "headers.x y.name: must be a header's name"],
  ["a header twice", any, { url: origin, headers: { "X-A": "1", "x-a": "2" } }, "headers.x-a.name: must be there once"],
  // Behind CGI and its heirs `_` and `-` are one.
  ["a key in CGI's spelling", any, { url: origin, headers: { Idempotency_Key: "mine" } }, "the tool sets it itself"],
  ["a length in CGI's spelling", any, { url: origin, headers: { content_length: "0" } }, "belongs to the connection"],
  ["a header twice in two spellings", any, { url: origin, headers: { "x-a": "1", x_a: "2" } }, "must be there once"],
  [
    "the tool's header in CGI's spelling",
    bound,
    { url: origin, headers: { X_Tenant: "8" } },
    "the tool sets it itself",
  ],
  [
    "a proxy's password, which the path leads past",
    any,
    { url: origin, headers: { "proxy-authorization": "Basic abc" } },
    "headers.proxy-authorization.name: must not be set",
  ],
  ["a header that the tool sets", bound, { url: origin, headers: { "X-Tenant": "8" } }, "the tool sets it itself"],
  [
    "a line break",
    any,
    { url: origin, headers: { "x-a": "1\r\nx-b: 2" } },
    "headers.x-a.$env: must hold printable ASCII",
  ],
  ["another script", any, { url: origin, headers: { "x-a": "ä" } }, "must hold printable ASCII only"],
  [
    "a very long value",
    any,
    { url: origin, headers: { "x-a": "a".repeat(8_193) } },
    "must be at most 8192 characters, got 8193",
  ],
  [
    "a secret in full",
    bound,
    { url: origin, headers: { Authorization: "Bearer abc" } },
    'headers.Authorization.$env: must be { "$env": name of a variable }: inputs are stored, and it is a secret',
  ],
  ["a cookie in full", any, { url: origin, headers: { cookie: "a=b" } }, "inputs are stored, and it is a secret"],
  [
    "a variable that is no secret of the tool",
    bound,
    { url: origin, headers: { "x-a": { $env: "AWS_SESSION_TOKEN" } } },
    `headers.x-a.$env: must name one of the tool's secrets, one of PAY_TOKEN, got "AWS_SESSION_TOKEN"`,
  ],
  [
    "a secret for an origin that is not its own",
    bound,
    { url: "https://evil.example/", headers: { authorization: { $env: "PAY_TOKEN" } } },
    `headers.authorization.$env: PAY_TOKEN may be sent to ${origin} only, got https://evil.example`,
  ],
  ["a number as header", any, { url: origin, headers: { "x-a": 1 } }, "headers.x-a: must be a text or"],
  ["no time at all", any, { url: origin, timeoutMs: 0 }, "timeoutMs: "],
  ["an hour", any, { url: origin, timeoutMs: 3_600_000 }, "timeoutMs: "],
  ["another reading", any, { url: origin, readAs: "xml" }, "readAs: "],
  ["an unknown field", any, { url: origin, ...{ redirect: "follow" } }, ": Unrecognized key"],
])("an input with %s is refused, with the field and the rule", (_what, tool, given, fault) => {
  expect(tool.inputFault(given)).toContain(fault);
});

test("what the tool's options name is accepted", () => {
  const faults = [
    any.inputFault({ url: `${origin}/a?b=c#d` }),
    any.inputFault({ url: `${origin}:443/` }),
    any.inputFault({ url: "https://8.8.8.8/" }),
    closed.inputFault({ method: "DELETE", url: "http://10.0.0.5:8080/x" }),
    bound.inputFault({ method: "POST", url: origin, headers: { authorization: { $env: "PAY_TOKEN" }, "X-A": "" } }),
    reading.inputFault({ method: "HEAD", url: origin }),
  ];
  expect(faults.filter((fault) => fault !== undefined)).toEqual([]);
});
