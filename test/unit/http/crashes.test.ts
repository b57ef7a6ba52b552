/** The tool over real sockets, under every crash: an endpoint that knows its keys is changed once. */
import { expect, test } from "vitest";
import { httpTool } from "../../../functions/http/index.ts";
import type { AnyTool } from "../../../shared/tool.ts";
import { clock, crashAtEveryStep, simulate } from "../../../testing/index.ts";
import { serving } from "./asking.ts";

test("wherever a worker is killed, the endpoint has had one order, and what it said is handed on", async () => {
  let orders = new Map<unknown, string>();
  const server = await serving({
    "/orders": (request, response) => {
      const key = request.headers["idempotency-key"];
      const order = orders.get(key) ?? `order-${orders.size + 1}`;
      orders.set(key, order);
      response.writeHead(201, { "content-type": "application/json" }).end(JSON.stringify({ order }));
    },
    "/mails": { status: 202 },
  });
  const tools = () => {
    orders = new Map();
    return [httpTool({ name: "call", privateOrigins: [server.origin] })];
  };
  const nodes = [
    { nodeId: "order", tool: "call", input: { method: "POST", url: `${server.origin}/orders`, body: { tea: 2 } } },
    {
      nodeId: "mail",
      tool: "call",
      input: {
        method: "POST",
        url: `${server.origin}/mails`,
        body: { about: { $output: "order", pointer: "/body/order" } },
      },
    },
  ];
  await crashAtEveryStep({ nodes, tools }, (outcome) => {
    expect(outcome.status).toBe("SUCCEEDED");
    expect([...orders.values()]).toEqual(["order-1"]);
    expect(outcome.nodes.mail?.output).toMatchObject({ status: 202, body: null });
    expect(server.arrived.at(-1)?.body).toBe('{"about":"order-1"}');
  });
});

test("an answer that cannot be handed on ends its node with effect done, and is asked for once", async () => {
  const server = await serving({ "/": { headers: { "content-type": "application/json" }, body: "<html>" } });
  const outcome = await simulate({
    nodes: [{ nodeId: "a", tool: "call", input: { method: "POST", url: server.origin } }],
    tools: [httpTool({ name: "call", privateOrigins: [server.origin] })],
  });
  expect(outcome.nodes.a).toMatchObject({
    status: "FAILED",
    effect: "done",
    attempts: 1,
    error: { message: expect.stringContaining('output.body: must be JSON, got "<html>"') },
  });
  expect(server.arrived).toHaveLength(1);
});

test("a start that names an address inside is refused with the node, the field and the rule", async () => {
  const input = { method: "GET", url: "https://169.254.169.254/latest/meta-data" };
  const refused = simulate({ nodes: [{ nodeId: "a", tool: "call", input }], tools: [httpTool({ name: "call" })] });
  await expect(refused).rejects.toThrow(/node "a", input\.url: must name a host at a public address, .*\(bad_input\)/);
});

test("an endpoint whose proxy says 503 after the order is not asked again once its keys may be gone", async () => {
  const hourMs = 3_600_000;
  let nowMs = 0;
  const orders: number[] = [];
  const server = await serving({
    "/orders": (_request, response) => {
      if (nowMs >= (orders.at(-1) ?? Number.NEGATIVE_INFINITY) + hourMs) orders.push(nowMs);
      response.writeHead(503).end("upstream connect error or disconnect/reset before headers");
    },
  });
  const retry = { attempts: 30, backoffBaseMs: 60_000, backoffMaxMs: 900_000 };
  const call: AnyTool = httpTool({ name: "call", privateOrigins: [server.origin], keyLifetimeMs: hourMs, retry });
  const execute: AnyTool["execute"] = (input, context) => {
    nowMs = clock.nowMs();
    return call.execute(input, context);
  };
  const outcome = await simulate({
    nodes: [{ nodeId: "a", tool: "call", input: { method: "POST", url: `${server.origin}/orders` } }],
    tools: [{ ...call, execute }],
  });
  expect(outcome.nodes.a?.status).toBe("IN_DOUBT");
  expect(orders).toHaveLength(1);
});
