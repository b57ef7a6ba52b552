/** Which pools a tool may name where it is deployed, and the limits that hold there. */
import type { Limits } from "./limits.ts";

/** The limits that bound a tool's numbers. */
export type Bounds = Pick<Limits, "attemptLimitMs" | "functionTimeoutMs">;

/** @param pool as the tool names it; undefined is the main worker. @returns what bounds such a tool, or the rule for `pool` that it breaks. */
export type BoundsOf = (pool: string | undefined) => Bounds | { readonly rule: string };

/** One worker that stands for all pools, as in memory. */
export const anyPool =
  (bounds: Bounds): BoundsOf =>
  () =>
    bounds;

/** A worker runs what its own queue brings: a tool of another pool would never be woken here. */
export const onlyPool =
  (own: string | undefined, bounds: Bounds): BoundsOf =>
  (pool) => {
    if (pool === own) return bounds;
    return {
      rule:
        own === undefined
          ? "must be left out in the main worker"
          : `must be ${JSON.stringify(own)} in the worker of that pool`,
    };
  };

/** All tools of a deployment, each under the limits of its pool. */
export const poolsOf =
  (main: Bounds, pools: ReadonlyMap<string, Bounds>): BoundsOf =>
  (pool) => {
    if (pool === undefined) return main;
    const known = [...pools.keys()].map((name) => JSON.stringify(name)).join(", ");
    return (
      pools.get(pool) ?? {
        rule:
          known === "" ? "must be left out, this deployment has no pools" : `must be one of ${known} or be left out`,
      }
    );
  };
