/** Redirects are answers; those that a tool follows are checked as the first address was. */
import { afterEach, expect, test } from "vitest";
import { serving, thrownBy, toolFor, toolWith } from "./asking.ts";

const to = (location: string, status = 302) => ({ status, headers: { location } });

afterEach(() => {
  delete process.env.PAY_TOKEN;
});

test("by default none is followed, and the error names where it leads", async () => {
  const server = await serving({ "/a": to("/b"), "/b": {} });
  const { says, message } = await thrownBy(toolFor(server).ask({ url: `${server.origin}/a` }));
  expect([says, message]).toEqual([
    "never",
    `GET ${server.origin}/a answered 302: it leads to /b, and is not followed`,
  ]);
  expect(server.arrived.map(({ path }) => path)).toEqual(["/a"]);
});

test.each([301, 302, 303, 307, 308])("a GET follows %i where its tool does, with its headers", async (status) => {
  const server = await serving({ "/a": to("/b?c", status), "/b?c": { body: "there" } });
  const asked = { url: `${server.origin}/a`, headers: { "x-a": "1" } };
  expect(await toolFor(server, { redirects: 1 }).ask(asked)).toMatchObject({ status: 200, body: "there" });
  expect(server.arrived[1]?.headers).toMatchObject({ "x-a": "1", "accept-encoding": "identity" });
});

test("one more than its tool follows is an answer", async () => {
  const server = await serving({ "/a": to("/b"), "/b": to("/c"), "/c": to("/a") });
  const { message } = await thrownBy(toolFor(server, { redirects: 2 }).ask({ url: `${server.origin}/a` }));
  expect(message).toContain("/c answered 302: it leads to /a");
  expect(server.arrived.map(({ path }) => path)).toEqual(["/a", "/b", "/c"]);
});

test.each([
  [303, "unknown"],
  [307, "never"],
])("a POST follows none: %i is an answer whose outcome is %s", async (status, says) => {
  const server = await serving({ "/a": to("/b", status), "/b": {} });
  const thrown = await thrownBy(toolFor(server, { redirects: 5 }).ask({ method: "POST", url: `${server.origin}/a` }));
  expect(thrown.says).toBe(says);
  expect(server.arrived.map(({ path }) => path)).toEqual(["/a"]);
});

test("to another origin neither secrets, nor other headers, nor the key go along, on no later hop either", async () => {
  process.env.PAY_TOKEN = "s3cret";
  const away = await serving({ "/b": (_request, response) => void response.writeHead(302, { location: back }).end() });
  const server = await serving({ "/a": to(`${away.origin}/b`), "/c": { body: "back" } });
  const back = `${server.origin}/c`;
  const { ask } = toolWith({
    privateOrigins: [server.origin, away.origin],
    secrets: { PAY_TOKEN: [server.origin] },
    headers: { "x-tenant": "7" },
    redirects: 2,
  });
  const headers = { authorization: { $env: "PAY_TOKEN" }, "x-a": "1" };
  expect(await ask({ url: `${server.origin}/a`, headers })).toMatchObject({ body: "back" });
  expect(server.arrived[0]?.headers).toMatchObject({ authorization: "s3cret", "x-a": "1", "x-tenant": "7" });
  for (const { headers } of [...away.arrived, ...server.arrived.slice(1)])
    expect(Object.keys(headers).sort()).toEqual(["accept-encoding", "connection", "host"]);
});

test.each([
  ["http://169.254.169.254/latest/meta-data", "must begin with https: and name no port"],
  ["https://169.254.169.254/latest/meta-data", "must name a host at a public address"],
  ["https://[::ffff:7f00:1]/", "must name a host at a public address"],
  ["file:///etc/passwd", "must begin with https:"],
  ["//127.0.0.1:1/", "must begin with https:"],
  ["https://ada:pw@api.example.com/", "must not stand in the address"],
])("a redirect to %s is not followed", async (location, rule) => {
  const server = await serving({ "/a": to(location) });
  const { says, message } = await thrownBy(toolFor(server, { redirects: 5 }).ask({ url: `${server.origin}/a` }));
  expect(says).toBe("never");
  expect(message).toContain(`GET ${server.origin}/a answered 302: the redirect ${rule}`);
  expect(message).not.toContain("pw");
});

test("a redirect to an origin that is not among the tool's is not followed", async () => {
  const away = await serving({});
  const server = await serving({ "/a": to(`${away.origin}/`) });
  const { ask } = toolWith({ origins: ["https://api.example.com"], privateOrigins: [server.origin], redirects: 1 });
  expect((await thrownBy(ask({ url: `${server.origin}/a` }))).message).toContain("must be of https://api.example.com");
  expect(away.connections()).toBe(0);
});

test("a redirect without a place, or with none that can be read, is an answer", async () => {
  const server = await serving({ "/a": { status: 302 }, "/b": to("http://[") });
  for (const path of ["/a", "/b"]) {
    const thrown = await thrownBy(toolFor(server, { redirects: 5 }).ask({ url: `${server.origin}${path}` }));
    expect(thrown.says).toBe("never");
  }
});
