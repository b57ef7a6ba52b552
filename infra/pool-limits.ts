import { type Limits, limitsWith } from "../shared/limits.ts";

/**
 * The limits that a worker and its queue read, and nobody else: only these can differ from pool to pool. `skewMs`, say, is
 * read by the scanner as well, which looks at the nodes of all pools.
 */
const poolLimitNames = [
  "leaseMs",
  "heartbeatMs",
  "attemptLimitMs",
  "abortGraceMs",
  "commitBufferMs",
  "functionTimeoutMs",
  "queueVisibilityMs",
  "maxReceives",
  "keyLifetimeMs",
  "reconcileAttempts",
  "reconcileTimeoutMs",
  "backoffBaseMs",
  "backoffMaxMs",
] as const satisfies readonly (keyof Limits)[];

export type PoolLimits = Pick<Limits, (typeof poolLimitNames)[number]>;

export type MergedLimits = {
  /** How they differ from the defaults; what the functions are told. */
  readonly overrides: Partial<Limits>;
  readonly limits: Limits;
};

/** @throws Error that names every broken relation with both of its numbers. */
export const limitsOf = (overrides: Partial<Limits> = {}): MergedLimits => ({
  overrides,
  limits: limitsWith(overrides),
});

/**
 * The deployment's limits with those of one pool over them.
 * @param field names the pool's limits for whoever set them wrongly.
 * @throws Error that names field, limit and rule: of a limit that no pool has, and of every broken relation both numbers.
 */
export function limitsOfPool(
  field: string,
  deployment: Partial<Limits> = {},
  own: Readonly<Record<string, number>> = {},
): MergedLimits {
  const foreign = Object.keys(own).filter((name) => !poolLimitNames.some((known) => known === name));
  if (foreign.length > 0)
    throw new Error(`${field} must name limits of a pool (${poolLimitNames.join(", ")}), got ${foreign.join(", ")}`);
  try {
    return limitsOf({ ...deployment, ...own });
  } catch (error) {
    throw new Error(`${field}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}
