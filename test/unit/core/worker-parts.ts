/** A worker in a world in memory, for the tests of what it does with a message. */
import { z } from "zod";
import type { RunItem } from "../../../shared/model.ts";
import type { AnyTool, ToolContext } from "../../../shared/tool.ts";
import { handleDelivery } from "../../../shared/worker.ts";
import type { Verdict, WorkerWorld } from "../../../shared/worker-world.ts";
import type { Item, Key } from "../../../shared/write.ts";
import {
  type FakeQueue,
  fakeQueue,
  itemOf,
  nodeWith,
  runWith,
  type StruckTable,
  struckTable,
  type TestWorld,
  testLimits,
  testWorld,
  toolsOf,
  toolWith,
} from "../../support/world.ts";

type Execute = (input: unknown, context: ToolContext) => unknown;

export type WorkerSetup = {
  readonly world: TestWorld &
    WorkerWorld & { readonly pulse: { readonly table: StruckTable; readonly queue: FakeQueue } };
  /** One message's delivery, with the clock moving on as long as anybody sleeps. */
  readonly deliver: (part?: {
    readonly dispatchId?: string;
    readonly messageId?: string;
    readonly body?: string;
    readonly remainingMs?: number;
  }) => Promise<Verdict>;
  /** What the tool was called with. */
  readonly calls: { readonly input: unknown; readonly context: ToolContext }[];
  /** Whether the process was ended, and when by the monotonic clock. */
  readonly endedAtMs: () => number | undefined;
};

export const processEnded = "the process has ended";

/** @param execute what the tool `work` does; it may throw anything, and it may never end. */
export function setupWorker(
  options: {
    readonly execute?: Execute;
    readonly items?: readonly (Item & Key)[];
    readonly run?: Partial<RunItem>;
    readonly tool?: Partial<AnyTool>;
  } = {},
): WorkerSetup {
  const { execute = () => ({ ok: true }), items = [itemOf(nodeWith())], run = {} } = options;
  const base = testWorld(...items, itemOf(runWith(run)));
  const calls: WorkerSetup["calls"] = [];
  let endedAtMs: number | undefined;
  const tool = toolWith({
    input: z.unknown(),
    execute: async (input, context) => {
      calls.push({ input, context });
      return execute(input, context);
    },
    ...options.tool,
  });
  const world = Object.assign(base, {
    limits: testLimits(),
    namespace: "test",
    tools: toolsOf(tool),
    pulse: { table: struckTable(base.memory), queue: fakeQueue() },
    endProcess: async (): Promise<never> => {
      endedAtMs = base.clock.monotonicMs();
      throw new Error(processEnded);
    },
  });
  return {
    world,
    calls,
    endedAtMs: () => endedAtMs,
    deliver: ({ dispatchId = "d-0", messageId = "m-1", body, remainingMs = 300_000 } = {}) => {
      const startedAtMs = world.clock.monotonicMs();
      const delivery = {
        messageId,
        receiptHandle: `receipt-${messageId}`,
        body: body ?? JSON.stringify({ run_id: "r", node_id: "a", dispatch_id: dispatchId }),
      };
      const invocation = { remainingMs: () => remainingMs - (world.clock.monotonicMs() - startedAtMs) };
      return world.clock.during(handleDelivery(world, delivery, invocation));
    },
  };
}
