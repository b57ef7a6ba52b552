/** The tools of the end-to-end stacks. Each tells the provider's ledger of every call, so that the ledger shows what really ran. */
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import { NonRetryableError, RetryableError } from "../../../shared/errors.ts";
import { type AnyTool, defineTool } from "../../../shared/tool.ts";
import { effectTools } from "./effects.ts";
import { enter, entered } from "./enter.ts";

const anything = z.record(z.string(), z.json());
const ledger = defineTool({
  name: "ledger",
  input: anything,
  output: entered,
  effect: "idempotent",
  execute: (input, context) => enter(context, input),
});

/** The control: what it hands on as key differs from attempt to attempt, so a repeat is a second effect. */
const careless = defineTool({
  name: "careless",
  input: anything,
  output: entered,
  effect: "idempotent",
  execute: (input, context) => enter(context, input, `${context.operationId}/${context.attempt}`),
});

const long = defineTool({
  name: "long",
  input: z.strictObject({ ms: z.int(), fromAttempt: z.int().default(1) }),
  output: entered,
  effect: "idempotent",
  execute: async (input, context) => {
    const entry = await enter(context, input);
    if (context.attempt >= input.fromAttempt) await sleep(input.ms, undefined, { signal: context.signal });
    return entry;
  },
});

/** Told to stop, it ends its work well. */
const finishing = defineTool({
  name: "finishing",
  input: z.strictObject({ ms: z.int() }),
  output: entered,
  effect: "idempotent",
  execute: async (input, context) => {
    const entry = await enter(context, input);
    await sleep(input.ms, undefined, { signal: context.signal }).catch(() => {});
    return entry;
  },
});

/** Fails for certain, without effect, in its first attempt; `afterMs` is when it wants to be tried again. */
const retrying = defineTool({
  name: "retrying",
  input: z.strictObject({ afterMs: z.int() }),
  output: entered,
  effect: "idempotent",
  execute: async (input, context) => {
    if (context.attempt === 1) throw new RetryableError("not yet", { retryAfterMs: input.afterMs });
    return enter(context, input);
  },
});

const failing = defineTool({
  name: "failing",
  input: anything,
  output: entered,
  effect: "idempotent",
  execute: async () => {
    throw new NonRetryableError("never");
  },
});

/** Heeds no abort: its first attempt goes on for longer than any invocation. */
const deaf = defineTool({
  name: "deaf",
  input: anything,
  output: entered,
  effect: "idempotent",
  timeoutMs: 1_000,
  execute: async (input, context) => {
    const entry = await enter(context, input);
    if (context.attempt === 1) await sleep(60_000);
    return entry;
  },
});

/** Wants a number, for starts whose input breaks a schema. */
const strict = defineTool({
  name: "strict",
  input: z.strictObject({ amount: z.number().positive() }),
  output: entered,
  effect: "idempotent",
  execute: (input, context) => enter(context, input),
});

export const tools: readonly AnyTool[] = [
  ledger,
  careless,
  long,
  finishing,
  retrying,
  failing,
  deaf,
  strict,
  ...effectTools,
];
