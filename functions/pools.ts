/** What the stack tells a function of the pools of workers. */
import * as z from "zod";
import { type Limits, limitsWith } from "../shared/limits.ts";
import { poolNameSchema } from "../shared/names.ts";
import { type Bounds, type BoundsOf, onlyPool, poolsOf } from "../shared/pools.ts";

const queueUrlsSchema = z.record(poolNameSchema, z.string().min(1));
// `limitsWith` checks each of them.
const limitsSchema = z.record(poolNameSchema, z.record(z.string(), z.number()));

/**
 * Dispatch queues of the pools by name, from LEASEHOLD_POOL_QUEUE_URLS; none where it is not set.
 * @throws Error that names the variable, the rule and what came.
 */
export const poolQueueUrls = (): Readonly<Record<string, string>> =>
  jsonVariable("LEASEHOLD_POOL_QUEUE_URLS", queueUrlsSchema, "pool names and queue URLs");

/**
 * For the function that checks starts: every tool under the limits of its pool, from LEASEHOLD_POOL_LIMITS, which says for each
 * pool how its limits differ from the defaults.
 * @throws Error that names the variable, the rule and what came; for limits that contradict each other the pool too.
 */
export function boundsOfAllPools(main: Limits): BoundsOf {
  const name = "LEASEHOLD_POOL_LIMITS";
  const overrides = jsonVariable(name, limitsSchema, "pool names and their limits");
  return poolsOf(
    main,
    new Map(
      Object.entries(overrides).map(([pool, differing]): [string, Bounds] => {
        try {
          return [pool, limitsWith(differing)];
        } catch (error) {
          throw new Error(`environment variable ${name}, pool ${JSON.stringify(pool)}: ${String(error)}`);
        }
      }),
    ),
  );
}

/**
 * For a worker: only tools of its own pool, which LEASEHOLD_POOL names; of none in the main worker, where it is not set.
 * @param limits of this worker.
 * @throws Error that names the variable, the rule and what came.
 */
export function boundsOfOwnPool(limits: Limits): BoundsOf {
  const own = process.env.LEASEHOLD_POOL;
  if (own === undefined) return onlyPool(undefined, limits);
  const pool = poolNameSchema.safeParse(own);
  if (pool.success) return onlyPool(pool.data, limits);
  throw new Error(
    `environment variable LEASEHOLD_POOL ${pool.error.issues[0]?.message ?? "is wrong"}, got ${JSON.stringify(own)}`,
  );
}

function jsonVariable<Value>(
  name: string,
  schema: z.ZodType<Readonly<Record<string, Value>>>,
  holds: string,
): Readonly<Record<string, Value>> {
  const text = process.env[name];
  if (text === undefined) return {};
  const parsed = schema.safeParse(jsonOf(text));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const place = issue === undefined || issue.path.length === 0 ? "" : ` (${issue.path.join(".")}: ${issue.message})`;
  throw new Error(`environment variable ${name} must be a JSON object of ${holds}${place}, got ${text}`);
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
