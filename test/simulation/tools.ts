/** The outside world of a simulated run: a provider with a ledger, and tools that behave in every way a tool may. */
import { z } from "zod";
import { NonRetryableError, RetryableError } from "../../shared/errors.ts";
import {
  type AnyTool,
  defineTool,
  type EffectClass,
  type Reconciled,
  type Tool,
  type ToolContext,
} from "../../shared/tool.ts";
import type { Process } from "../../testing/process.ts";

/** One call that reached the provider. */
export type LedgerCall = {
  readonly runId: string;
  readonly nodeId: string;
  readonly operationId: string;
  readonly fencingToken: number;
  readonly attempt: number;
  readonly atMs: number;
  /** False where the provider knew the operation already, or the tool changes nothing. */
  readonly effect: boolean;
  /** A former owner acted, which was still alive when another had taken over. */
  readonly late: boolean;
};

export type Ledger = {
  readonly calls: LedgerCall[];
  readonly effects: Map<string, number>;
  /** Nodes whose input was not what another had given out. */
  readonly misread: string[];
};

/** Above what the table takes. */
const largeText = "0123456789abcdef".repeat(1_100);

export type Outside = {
  readonly ledger: Ledger;
  /** Tools bound to the process that runs them. */
  toolsFor(process: Process): readonly AnyTool[];
};

export type OutsideOptions = {
  readonly nowMs: () => number;
  /** The epoch that the table holds now. */
  readonly epochOf: (runId: string, nodeId: string) => number;
  readonly context?: (context: ToolContext) => ToolContext;
};

/** Made once: a schema compiles itself at its first use, and there is a world for each seed. */
const any = z.record(z.string(), z.json());
const dated = z.object({ when: z.string() });

export function outside({ nowMs, epochOf, context: alter = (context) => context }: OutsideOptions): Outside {
  const ledger: Ledger = { calls: [], effects: new Map(), misread: [] };

  /** `keyed`: the provider knows the operation again. `blind`: each call is one more effect. */
  const act = (process: Process, context: ToolContext, how: "keyed" | "blind" | "none"): Promise<boolean> => {
    const apply = async (): Promise<boolean> => {
      const made = ledger.effects.get(context.operationId) ?? 0;
      const isNew = how === "blind" || (how === "keyed" && made === 0);
      if (isNew) ledger.effects.set(context.operationId, made + 1);
      const { runId, nodeId, operationId, fencingToken, attempt } = context;
      ledger.calls.push({
        runId,
        nodeId,
        operationId,
        fencingToken,
        attempt,
        atMs: nowMs(),
        effect: isNew,
        late: fencingToken < epochOf(runId, nodeId),
      });
      return isNew;
    };
    return process.call("tool", context.nodeId, apply, {
      error: async () => {
        throw new Error("the provider could not be reached");
      },
      lostReply: async () => {
        throw new Error("the provider's answer was lost");
      },
    });
  };

  /** Looks the operation up in the ledger. */
  const lookUp = (process: Process, context: ToolContext): Promise<Reconciled<Record<string, string>>> =>
    process.call<Reconciled<Record<string, string>>>(
      "tool",
      `look up ${context.nodeId}`,
      async () =>
        ledger.effects.has(context.operationId)
          ? { is: "done", output: { acted: context.nodeId } }
          : { is: "not_done" },
      {
        error: async () => {
          throw new Error("the provider could not be reached");
        },
        lostReply: async () => ({ is: "unknown" }),
      },
    );

  const tool = (
    name: string,
    effect: EffectClass,
    execute: (context: ToolContext) => Promise<unknown>,
    more: Partial<AnyTool> = {},
  ): AnyTool =>
    checked({
      name,
      input: any,
      output: any,
      effect,
      retry: { attempts: 3, backoffBaseMs: 500, backoffMaxMs: 4_000 },
      ...more,
      execute: async (_input, context) => (await execute(alter(context))) as Record<string, never>,
    });

  const acted = async (
    process: Process,
    context: ToolContext,
    operationId: string,
    how: "keyed" | "blind" = "keyed",
  ): Promise<string> => {
    await act(process, { ...context, operationId }, how);
    return operationId;
  };

  /** Whether the ledger knows the operation. */
  const lookedUp = async (process: Process, context: ToolContext, operationId: string): Promise<boolean> =>
    (await lookUp(process, { ...context, operationId })).is === "done";

  /** A tool of any class; `defineTool` has checked it. */
  const checked = (any: AnyTool): AnyTool => defineTool(any as Tool) as AnyTool;

  const toolsFor = (process: Process): readonly AnyTool[] => [
    tool("read", "read_only", async (context) => {
      await act(process, context, "none");
      return { read: context.nodeId };
    }),
    tool(
      "act",
      "idempotent",
      async (context) => {
        await act(process, context, "keyed");
        return { acted: context.nodeId };
      },
      { pool: "acting" },
    ),
    tool(
      "act-once-tried",
      "idempotent",
      async (context) => {
        await act(process, context, "keyed");
        return { acted: context.nodeId };
      },
      { retry: { attempts: 1 } },
    ),
    tool("fails", "idempotent", async () => {
      throw new NonRetryableError("this tool always fails");
    }),
    tool(
      "retries",
      "idempotent",
      async (context) => {
        if (context.attempt < 3) throw new RetryableError(`attempt ${context.attempt} is too early`);
        await act(process, context, "keyed");
        return { acted: context.nodeId };
      },
      { pool: "retrying" },
    ),
    tool("unsure", "idempotent", async (context) => {
      await act(process, context, "keyed");
      if (context.attempt < 2) throw new Error("nobody knows whether this acted");
      return { acted: context.nodeId };
    }),
    tool("slow", "idempotent", async (context) => {
      await process.clock.sleep(100_000, context.signal);
      await act(process, context, "keyed");
      return { acted: context.nodeId };
    }),
    tool(
      "never-stops",
      "idempotent",
      async (context) => {
        await act(process, context, "keyed");
        return new Promise(() => undefined);
      },
      { timeoutMs: 20_000, retry: { attempts: 2 } },
    ),
    tool("steps", "idempotent", async (context) => {
      const first = await context.step("first", (step) => acted(process, context, step.operationId));
      const [left, right] = await Promise.all([
        context.step("left", (step) => acted(process, context, step.operationId)),
        context.step("right", (step) => acted(process, context, step.operationId), { effect: "idempotent" }),
      ]);
      return { first, left, right };
    }),
    tool("step-once", "idempotent", async (context) => {
      await context.step("before", (step) => acted(process, context, step.operationId));
      const once = await context.step("once", (step) => acted(process, context, step.operationId, "blind"), {
        effect: "at_most_once",
      });
      if (context.attempt < 2) throw new RetryableError("once more, with both steps remembered");
      return { once };
    }),
    tool("step-then-fails", "idempotent", async (context) => {
      await context.step("before", (step) => acted(process, context, step.operationId));
      if (context.attempt < 2) throw new RetryableError("once more, with the step remembered");
      throw new NonRetryableError("and then not at all");
    }),
    tool("step-looked-up", "idempotent", async (context) => {
      const found = await context.step("paid", (step) => acted(process, context, step.operationId, "blind"), {
        effect: "reconcilable",
        reconcile: async (step) => {
          const isDone = await lookedUp(process, context, step.operationId);
          return isDone ? { is: "done", output: step.operationId } : { is: "not_done" };
        },
      });
      return { found };
    }),
    tool(
      "holds",
      "idempotent",
      async (context) => {
        await process.clock.sleep(100_000, context.signal);
        await act(process, context, "keyed");
        return { acted: context.nodeId };
      },
      { lease: "invocation" },
    ),
    tool(
      "once",
      "at_most_once",
      async (context) => {
        await act(process, context, "blind");
        return { acted: context.nodeId };
      },
      { pool: "careful" },
    ),
    tool("once-retries", "at_most_once", async (context) => {
      if (context.attempt < 2) throw new RetryableError("too early, and surely nothing happened");
      await act(process, context, "blind");
      return { acted: context.nodeId };
    }),
    tool(
      "looked-up",
      "reconcilable",
      async (context) => {
        await act(process, context, "blind");
        return { acted: context.nodeId };
      },
      {
        pool: "careful",
        reconcile: (_input, context) => lookUp(process, alter(context)),
        reconcileRetry: { attempts: 3, timeoutMs: 10_000, backoffBaseMs: 500, backoffMaxMs: 4_000 },
      },
    ),
    tool(
      "looked-up-unsure",
      "reconcilable",
      async (context) => {
        if (context.attempt > 1) await act(process, context, "blind");
        if (context.attempt < 3) throw new Error("nobody knows whether this acted");
        return { acted: context.nodeId };
      },
      { reconcile: (_input, context) => lookUp(process, alter(context)) },
    ),
    tool(
      "never-found",
      "reconcilable",
      async (context) => {
        await act(process, context, "blind");
        throw new Error("nobody knows whether this acted");
      },
      {
        reconcile: async () => ({ is: "unknown" }),
        reconcileRetry: { attempts: 2, backoffBaseMs: 500, backoffMaxMs: 4_000 },
      },
    ),
    tool(
      "short-key",
      "idempotent",
      async (context) => {
        await act(process, context, "keyed");
        if (context.attempt < 3) throw new Error("nobody knows whether this acted");
        return { acted: context.nodeId };
      },
      { keyLifetimeMs: 310_000, retry: { attempts: 5, backoffBaseMs: 20_000, backoffMaxMs: 20_000 } },
    ),
    tool("large", "idempotent", async (context) => {
      await act(process, context, "keyed");
      return { text: largeText };
    }),
    tool("large-once", "at_most_once", async (context) => {
      await act(process, context, "blind");
      return { text: largeText };
    }),
    tool(
      "large-looked-up",
      "reconcilable",
      async (context) => {
        await act(process, context, "blind");
        return { text: largeText };
      },
      {
        reconcile: async (_input, context) => {
          const found = await lookUp(process, alter(context));
          return found.is === "done" ? { is: "done", output: { text: largeText } } : found;
        },
      },
    ),
    tool(
      "large-wrong",
      "idempotent",
      async (context) => {
        await act(process, context, "keyed");
        return { text: largeText, when: 5 };
      },
      { output: dated },
    ),
    {
      ...tool("reads-large", "idempotent", async (context) => {
        await act(process, context, "keyed");
        return { acted: context.nodeId };
      }),
      input: z.object({
        text: z.string().refine((text) => text === largeText || void ledger.misread.push(text.slice(0, 80))),
      }),
    },
    tool("bad-output", "idempotent", async (context) => {
      await act(process, context, "keyed");
      return { when: undefined };
    }),
  ];

  return { ledger, toolsFor };
}
