/** One call that a function made, as the proxy saw it. */
import type { IncomingMessage } from "node:http";
import { ownerOf } from "../processes.ts";

export type ProxiedCall = {
  /** 0 for the first call since the proxy started or was reset. */
  readonly index: number;
  /** `DynamoDB`, `SQS`; empty where the call carries no `x-amz-target`. */
  readonly service: string;
  /** `TransactWriteItems`, `SendMessageBatch`; `GET /path` where the call carries no `x-amz-target`. */
  readonly action: string;
  /** The JSON that was sent; undefined where there was none. */
  readonly body: unknown;
  /** The body as it came; empty where the call carries no `x-amz-target`, since such a body is streamed through. */
  readonly text: string;
  readonly atMs: number;
  /** The process that made the call, known even when it is dead by now. */
  pid(): Promise<number | undefined>;
  /** What the target answered, whether or not the caller ever got it. */
  reply: Reply | undefined;
};

/** `text` is empty where the answer was streamed through. */
type Reply = { readonly status: number; readonly text: string };

/** `DynamoDB_20120810.UpdateItem` is an AWS JSON call: its body is one small document, and is read before it is sent on. */
export function targetOf(request: IncomingMessage): { service: string; action: string } | undefined {
  const [service, action] = String(request.headers["x-amz-target"] ?? "").split(".");
  if (!service || !action) return undefined;
  return { service: service.replace(/^Amazon/, "").replace(/_\d+$/, ""), action };
}

export function callOf(request: IncomingMessage, index: number, body: Buffer | undefined): ProxiedCall {
  const target = targetOf(request) ?? { service: "", action: `${request.method} ${request.url}` };
  const text = body?.toString("utf8") ?? "";
  const { socket } = request;
  return {
    index,
    ...target,
    body: parsed(text),
    text,
    atMs: Date.now(),
    pid: () => ownerOf(socket),
    reply: undefined,
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
