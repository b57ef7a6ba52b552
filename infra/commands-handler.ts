import { Stack } from "aws-cdk-lib";
import * as lambda from "aws-cdk-lib/aws-lambda";
import type { Construct } from "constructs";
import { bundledCode } from "./bundle.ts";
import { BundledFunction, type BundledFunctionProps } from "./bundled-function.ts";
import { bundlingOfAll, checkedTools } from "./tools-check.ts";
import type { OneWorker } from "./worker.ts";

export type CommandsHandlerProps = Omit<BundledFunctionProps, "description" | "code" | "inLoop" | "layers"> & {
  /** All that run tools: a start is checked against the tools of all. */
  readonly workers: readonly OneWorker[];
  /** What `deployedTools` found. */
  readonly tools: readonly unknown[] | undefined;
};

/**
 * The tools of all workers, checked; undefined where nobody looks at the stack, which then needs no bundle either.
 * @throws Error that names the prop, the module, the tool where it is one, and the rule that is broken.
 */
export const deployedTools = (scope: Construct, workers: readonly OneWorker[]): readonly unknown[] | undefined =>
  Stack.of(scope).bundlingRequired ? checkedTools(workers.map(moduleOf)) : undefined;

/** The function that checks commands. It is made of the same modules of tools as the workers, so they can never differ. */
export function addCommandsHandler(scope: Construct, props: CommandsHandlerProps): lambda.Function {
  const { workers, tools, environment, ...rest } = props;
  const layers = [...new Set(workers.flatMap((worker) => worker.layers ?? []))];
  const poolLimits = Object.fromEntries(
    workers.flatMap(({ pool, merged }) => (pool === undefined ? [] : [[pool, merged.overrides]])),
  );
  const handler = new BundledFunction(scope, "CommandsHandler", {
    ...rest,
    description: "Leasehold: checks commands and writes runs",
    code: bundledCode({ entry: { text: entryText(workers) }, bundling: bundlingOfAll(workers) }),
    inLoop: true,
    ...(layers.length === 0 ? {} : { layers }),
    environment: {
      ...environment,
      ...(Object.keys(poolLimits).length === 0 ? {} : { LEASEHOLD_POOL_LIMITS: JSON.stringify(poolLimits) }),
    },
  }).function;
  // For whoever wants to know, later and elsewhere, what is deployed.
  if (tools !== undefined && lambda.CfnFunction.isCfnFunction(handler.node.defaultChild))
    handler.node.defaultChild.addMetadata("leasehold:tools", tools);
  return handler;
}

const moduleOf = ({ toolsField, tools, pool, merged, bundling }: OneWorker) => ({
  field: toolsField,
  path: tools,
  limits: merged.limits,
  ...(pool === undefined ? {} : { pool }),
  ...(bundling === undefined ? {} : { bundling }),
});

const entryText = (workers: readonly OneWorker[]): string =>
  [
    `import { createCommands } from "./create-commands";`,
    ...workers.map(({ tools }, place) => `import { tools as tools${place} } from ${JSON.stringify(tools)};`),
    `export const handler = createCommands([${workers.map((_, place) => `...tools${place}`).join(", ")}]);`,
  ].join("\n");
