import * as z from "zod";
import { defineTool } from "../../shared/tool.ts";

/** Does nothing: stands in for any tool where only the graph matters. */
export const noop = defineTool({
  name: "noop",
  input: z.record(z.string(), z.json()),
  output: z.strictObject({}),
  effect: "read_only",
  execute: async () => ({}),
});
