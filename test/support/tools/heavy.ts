/** The tools of the end-to-end stack's pool. */
import * as z from "zod";
import { type AnyTool, defineTool } from "../../../shared/tool.ts";
import { enter, entered } from "./enter.ts";

/** Says which function ran it. */
const heavy = defineTool({
  name: "heavy",
  pool: "heavy",
  input: z.record(z.string(), z.json()),
  output: entered.extend({ ranIn: z.string() }),
  effect: "idempotent",
  execute: async (input, context) => ({
    ...(await enter(context, input)),
    ranIn: process.env.AWS_LAMBDA_FUNCTION_NAME ?? "nowhere",
  }),
});

/** Gives more than the table takes. */
const large = defineTool({
  name: "large",
  pool: "heavy",
  input: z.strictObject({ characters: z.int() }),
  output: z.strictObject({ text: z.string() }),
  effect: "read_only",
  execute: async ({ characters }) => ({ text: "x".repeat(characters) }),
});

export const tools: readonly AnyTool[] = [heavy, large];
