/** The engine of leasehold/testing with the simulation's own tools, their ledger, and mistakes put in on purpose. */
import { nodeKey } from "../../shared/keys.ts";
import type { ToolContext } from "../../shared/tool.ts";
import { type Engine as Deployment, engine as deployment } from "../../testing/engine.ts";
import type { EngineOptions } from "../../testing/engine-options.ts";
import type { Sabotage as SabotagedPorts } from "../../testing/sabotage.ts";
import { runId } from "./scenarios.ts";
import { type Outside, outside } from "./tools.ts";

export type Sabotage = SabotagedPorts & { readonly context?: (context: ToolContext) => ToolContext };

export type Engine = Deployment & { readonly outside: Outside };

type Options = Omit<EngineOptions, "runId" | "toolsFor" | "sabotage"> & {
  readonly sabotage?: Sabotage;
  /** Tools that the commands know and the worker does not. */
  readonly undeployed?: readonly string[];
};

export function engine(options: Options): Engine {
  const { undeployed = [], ...others } = options;
  const { context } = others.sabotage ?? {};
  const world = outside({
    nowMs: () => made.clockwork.nowMs(),
    epochOf: (run, node) => {
      const { pk, sk } = nodeKey(run, node);
      return Number(made.itemAt(pk, sk)?.epoch ?? 0);
    },
    ...(context === undefined ? {} : { context }),
  });
  const made = deployment({
    ...others,
    runId,
    toolsFor: (process) =>
      world.toolsFor(process).filter((tool) => process.kind !== "worker" || !undeployed.includes(tool.name)),
  });
  return { ...made, outside: world };
}
