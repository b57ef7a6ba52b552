/** What a server tells of the secrets that it was sent is not stored in an error. */
import { afterEach, expect, test } from "vitest";
import { redactionOf } from "../../../functions/http/redaction.ts";
import { serving, thrownBy, toolFor } from "./asking.ts";

afterEach(() => {
  delete process.env.PAY_TOKEN;
});

const basic = `Basic ${Buffer.from("ada:opensesame").toString("base64")}`;

test.each<[Record<string, string>, string, string]>([
  [{ A: "s3cret" }, "s3cret, s3cret", "[A], [A]"],
  [{ A: "Bearer sk_live_1234" }, "Bearer sk_live_1234 is wrong: sk_live_1234", "[A] is wrong: [A]"],
  [{ A: "Bearer sk_live_1234" }, "no Bearer was given", "no Bearer was given"],
  [{ A: "tenant-key", B: "tenant-key-of-7" }, "tenant-key-of-7 tenant-key", "[B] [A]"],
  [{ A: "session=abcdefgh; theme=dark" }, "no session abcdefgh", "no session [A]"],
  [{ A: basic }, "ada:opensesame is unknown, opensesame", "[A] is unknown, [A]"],
  [{ A: 'quo"ted' }, '{"key":"quo\\"ted"}', '{"key":"[A]"}'],
  [{ A: "a+b/c==" }, "/login?key=a%2Bb%2Fc%3D%3D", "/login?key=[A]"],
  [{ A: "$&.*(" }, "$&.*( and more", "[A] and more"],
  [{}, "nothing to hide", "nothing to hide"],
])("with secrets %j, %j is shown as %j", (secrets, text, shown) => {
  expect(redactionOf(new Map(Object.entries(secrets))).all(text)).toBe(shown);
});

test.each([
  ["the key is sk_live_12", "the key is [A]"],
  ["the header is Bearer sk_l", "the header is [A]"],
  ["the key is wrong", "the key is wrong"],
])("of a text that was cut off, %j is shown as %j", (text, shown) => {
  const { tornEnd } = redactionOf(new Map([["A", "Bearer sk_live_1234"]]));
  expect(tornEnd(text)).toBe(shown);
});

test.each([
  ["a refusal that is cut off within it", 403, {}],
  ["a success that is no JSON", 200, { "content-type": "application/json" }],
  ["a success of its encoding", 200, { "content-encoding": "sk_live_1234" }],
])("%s shows no secret", async (_what, status, headers) => {
  const server = await serving({ "/": { status, headers, body: `denied: ${"x".repeat(40)} sk_live_1234` } });
  process.env.PAY_TOKEN = "Bearer sk_live_1234";
  const { ask, outputFault } = toolFor(server, {
    secrets: { PAY_TOKEN: [server.origin] },
    headers: { authorization: { $env: "PAY_TOKEN" } },
    responseBytes: status === 200 ? 1_000 : 56,
  });
  const asked = ask({ url: server.origin });
  const message = status === 200 ? outputFault(await asked) : (await thrownBy(asked)).message;
  expect(message).toContain("[PAY_TOKEN]");
  expect(message).not.toContain("sk_live");
});

test("a redirect that tells the secret in its path shows none where it breaks off", async () => {
  const server = await serving({
    "/a": { status: 302, headers: { location: "/login/sk_live_1234" } },
    "/login/sk_live_1234": (request) => void request.socket.destroy(),
  });
  process.env.PAY_TOKEN = "Bearer sk_live_1234";
  const secrets = { PAY_TOKEN: [server.origin] };
  const { ask } = toolFor(server, { secrets, headers: { authorization: { $env: "PAY_TOKEN" } }, redirects: 1 });
  const { message } = await thrownBy(ask({ url: `${server.origin}/a` }));
  expect(message).toMatch(/\/login\/\[PAY_TOKEN\] was sent/);
});
