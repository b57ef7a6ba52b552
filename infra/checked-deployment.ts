import {
  checkedLogLevel,
  checkedNamespace,
  checkedPools,
  checkFlags,
  checkWorker,
  existingModule,
} from "./checked-props.ts";
import { limitsOf, limitsOfPool, type MergedLimits } from "./pool-limits.ts";
import type { LeaseholdProps, LogLevel, WorkerProps } from "./props.ts";
import type { OneWorker } from "./worker.ts";

/** What a deployer said, found right and with the defaults in its gaps. */
export type Deployment = {
  readonly namespace: string;
  readonly merged: MergedLimits;
  readonly removable: boolean;
  readonly logLevel: LogLevel;
  readonly main: OneWorker;
  readonly pools: readonly (OneWorker & { readonly pool: string })[];
};

/** @throws Error that names the field, the rule and what came; limits that contradict each other with both numbers. */
export function checkedDeployment(props: LeaseholdProps): Deployment {
  const namespace = checkedNamespace(props.namespace);
  checkFlags({ removable: props.removable, alarms: props.alarms, outputs: props.outputs });
  const merged = limitsOf(props.limits);
  const { worker = {} } = props;
  checkWorker("worker", worker);
  const pools = Object.entries(checkedPools(props.pools));
  return {
    namespace,
    merged,
    removable: props.removable ?? false,
    logLevel: checkedLogLevel(props.logLevel ?? "info"),
    main: {
      ...worker,
      ...entryOf("worker", worker),
      limitsField: "limits",
      toolsField: "tools",
      tools: existingModule("tools", props.tools),
      merged,
    },
    pools: pools.map(([pool, { tools, limits = {}, ...own }]) => ({
      ...own,
      ...entryOf(`pools.${pool}`, own),
      limitsField: `pools.${pool}.limits`,
      toolsField: `pools.${pool}.tools`,
      tools: existingModule(`pools.${pool}.tools`, tools),
      pool,
      merged: limitsOfPool(`pools.${pool}.limits`, props.limits, limits),
    })),
  };
}

const entryOf = (field: string, { entry }: WorkerProps): Pick<WorkerProps, "entry"> =>
  entry === undefined ? {} : { entry: existingModule(`${field}.entry`, entry) };
