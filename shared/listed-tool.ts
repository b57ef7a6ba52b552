/** A tool as a deployment, or a module of tools, shows it: plain data. What is missing is the deployment's default. */
import * as z from "zod";
import type { AnyTool } from "./tool.ts";

export const listedToolSchema = z.object({
  name: z.string(),
  effect: z.string(),
  pool: z.string().optional(),
  timeoutMs: z.number().optional(),
  attempts: z.number().optional(),
  lease: z.string().optional(),
});
export type ListedTool = z.infer<typeof listedToolSchema>;

export const listedTool = ({ name, effect, pool, timeoutMs, retry, lease }: AnyTool): ListedTool => ({
  name,
  effect,
  ...(pool === undefined ? {} : { pool }),
  ...(timeoutMs === undefined ? {} : { timeoutMs }),
  ...(retry?.attempts === undefined ? {} : { attempts: retry.attempts }),
  ...(lease === undefined ? {} : { lease }),
});
