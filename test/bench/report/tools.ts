/** The tools of the deployed bench, and of the one in memory. */
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import { noop } from "../../../functions/tools/noop.ts";
import { type AnyTool, defineTool } from "../../../shared/tool.ts";

export const waitMs = 200;

const anything = z.record(z.string(), z.json());
const stamped = z.strictObject({ at_ms: z.int() });

/** Says when it ran. */
const stamp = defineTool({
  name: "stamp",
  input: anything,
  output: stamped,
  effect: "read_only",
  execute: async () => ({ at_ms: Date.now() }),
});

/** The same, and then waits as for a service elsewhere. */
const wait = defineTool({
  name: "wait",
  input: anything,
  output: stamped,
  effect: "read_only",
  execute: async (_input, { signal }) => {
    const at_ms = Date.now();
    await sleep(waitMs, undefined, { signal });
    return { at_ms };
  },
});

export const tools: readonly AnyTool[] = [noop, stamp, wait];
