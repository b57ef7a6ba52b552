import { setTimeout } from "node:timers/promises";
import * as z from "zod";
import { defaultLimits } from "../../shared/limits.ts";
import { defineTool } from "../../shared/tool.ts";

/** Takes its time and changes nothing: shows heartbeats, cancels and deadlines at work. */
export const sleep = defineTool({
  name: "sleep",
  input: z.strictObject({ ms: z.int().min(0).max(defaultLimits.attemptLimitMs) }),
  output: z.strictObject({ slept_ms: z.int() }),
  effect: "read_only",
  execute: async ({ ms }, { signal }) => {
    await setTimeout(ms, undefined, { signal });
    return { slept_ms: ms };
  },
});
