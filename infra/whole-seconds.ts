import { Duration } from "aws-cdk-lib";
import type { Limits } from "../shared/limits.ts";

type DurationName = Extract<keyof Limits, `${string}Ms`>;

/**
 * A limit as a template can hold it: SQS and Lambda count whole seconds, and rounding would break a relation that was checked.
 * @param field where it was set.
 * @throws Error that names the limit and its value when it is no whole number of seconds.
 */
export function wholeSeconds(limits: Limits, name: DurationName, field = "limits"): Duration {
  const valueMs = limits[name];
  if (valueMs % 1_000 !== 0)
    throw new Error(`${field}: ${name} (${valueMs}) must be a whole number of seconds, as AWS counts it`);
  return Duration.millis(valueMs);
}
