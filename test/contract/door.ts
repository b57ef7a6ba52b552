/** A loopback HTTP door before the emulator, or before nothing, that fails as it is told: the emulator itself makes no faults. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export type Call = { readonly target: string; readonly body: string };
export type Answer = { readonly status: number; readonly body: unknown };

/**
 * `pass`: hands on. `lose`: hands on, so that it is done, and breaks the socket instead of answering. `reset`: breaks the
 * socket unread. `stall`: never answers. `cut`: hands on and breaks the socket in the middle of the answer. `garble`: hands
 * on and answers with half a text of JSON.
 */
export type Step = "pass" | "lose" | "reset" | "stall" | "cut" | "garble" | Answer | ((call: Call) => Answer);

export type Door = {
  readonly endpoint: string;
  /** Every request that came, in order. */
  readonly calls: Call[];
  /** What happens to the next requests, one step each; `pass` after the last. */
  next(...steps: readonly Step[]): void;
  close(): Promise<void>;
};

/** As the JSON protocol of DynamoDB and SQS writes an error. */
export const failure = (status: number, type: string, more: Readonly<Record<string, unknown>> = {}): Answer => ({
  status,
  body: { __type: `com.amazonaws.dynamodb.v20120810#${type}`, message: `injected ${type}`, ...more },
});

async function textOf(request: IncomingMessage): Promise<string> {
  let text = "";
  request.setEncoding("utf8");
  for await (const chunk of request) text += String(chunk);
  return text;
}

export async function openDoor(upstream?: string): Promise<Door> {
  const calls: Call[] = [];
  const steps: Step[] = [];

  async function handOn(request: IncomingMessage, body: string): Promise<{ status: number; text: string }> {
    if (upstream === undefined) throw new Error("there is nothing behind this door");
    const headers = Object.entries(request.headers).flatMap(([name, value]): [string, string][] =>
      typeof value === "string" && !["host", "connection", "content-length", "expect"].includes(name)
        ? [[name, value]]
        : [],
    );
    const response = await fetch(`${upstream}${request.url ?? "/"}`, { method: "POST", headers, body });
    return { status: response.status, text: await response.text() };
  }

  const send = (response: ServerResponse, status: number, text: string): void => {
    response.writeHead(status, { "content-type": "application/x-amz-json-1.0" }).end(text);
  };

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const step = steps.shift() ?? "pass";
    const call: Call = { target: String(request.headers["x-amz-target"]), body: await textOf(request) };
    calls.push(call);
    if (typeof step === "object" || typeof step === "function") {
      const answer = typeof step === "function" ? step(call) : step;
      return send(response, answer.status, JSON.stringify(answer.body));
    }
    if (step === "stall") return;
    if (step === "reset") {
      request.socket.destroy();
      return;
    }
    const { status, text } = await handOn(request, call.body);
    switch (step) {
      case "pass":
        return send(response, status, text);
      case "lose":
        request.socket.destroy();
        return;
      case "cut":
        response.writeHead(status, { "content-length": String(text.length + 10) });
        response.write(text.slice(0, 3), () => request.socket.destroy());
        return;
      case "garble":
        return send(response, status, text.slice(0, -1));
      default:
        throw step satisfies never;
    }
  }

  const server = createServer((request, response) => {
    serve(request, response).catch((error: unknown) => {
      send(response, 418, JSON.stringify({ __type: "DoorBroken", message: String(error) }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    endpoint: `http://127.0.0.1:${port}`,
    calls,
    next: (...more) => {
      steps.push(...more);
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
