/**
 * The CDK app of the tests: one removable stack for each entry of the JSON list in LEASEHOLD_TEST_STACKS.
 * The shipped constructs know nothing of faults: what a test bends, it bends here, on what they expose.
 */

import { join } from "node:path";
import { App, type CfnResource } from "aws-cdk-lib";
import { CfnRule } from "aws-cdk-lib/aws-events";
import { CfnEventSourceMapping } from "aws-cdk-lib/aws-lambda";
import { z } from "zod";
import type { Leasehold } from "../../infra/leasehold.ts";
import { projectRoot } from "../../infra/package-root.ts";
import type { WorkerProps } from "../../infra/props.ts";
import { LeaseholdStack } from "../../infra/stack.ts";
import type { Limits } from "../../shared/limits.ts";

const endpointsSchema = z.strictObject({ dynamodb: z.url().optional(), sqs: z.url().optional() });

const workerSchema = z.strictObject({
  entry: z.string().optional(),
  environment: z.record(z.string(), z.string()).optional(),
});
const limitsSchema = z.record(z.string(), z.number());

const testStackSchema = z.strictObject({
  name: z.string().min(1),
  namespace: z.string(),
  limits: limitsSchema.optional(),
  /** @default functions/tools/index.ts */
  tools: z.string().optional(),
  worker: workerSchema.optional(),
  /** Their workers have the environment of the main one, and what is said here besides. */
  pools: z.record(z.string(), z.strictObject({ tools: z.string(), limits: limitsSchema.optional() })).optional(),
  /** Where a function finds a service, for one whose calls go through a fault proxy; plain AWS_ENDPOINT_URL holds for the rest. */
  endpoints: z
    .strictObject({
      commands: endpointsSchema.optional(),
      relay: endpointsSchema.optional(),
      worker: endpointsSchema.optional(),
      scanner: endpointsSchema.optional(),
    })
    .optional(),
  /** What is there but switched off, from the first moment on. */
  disabled: z.strictObject({ relayMapping: z.boolean().optional(), scanRule: z.boolean().optional() }).optional(),
});
export type TestStack = z.infer<typeof testStackSchema>;

function addEndpoints(leasehold: Leasehold, endpoints: TestStack["endpoints"]): void {
  for (const name of ["commands", "relay", "worker", "scanner"] as const) {
    const { dynamodb, sqs } = endpoints?.[name] ?? {};
    if (dynamodb !== undefined) leasehold.functions[name].addEnvironment("AWS_ENDPOINT_URL_DYNAMODB", dynamodb);
    if (sqs !== undefined) leasehold.functions[name].addEnvironment("AWS_ENDPOINT_URL_SQS", sqs);
  }
}

function disable(leasehold: Leasehold, disabled: TestStack["disabled"]): void {
  if (disabled?.relayMapping === true)
    only(leasehold.mappings.outbox.node.findAll(), CfnEventSourceMapping.isCfnEventSourceMapping).enabled = false;
  if (disabled?.scanRule === true) only(leasehold.scanRule.node.findAll(), CfnRule.isCfnRule).state = "DISABLED";
}

function only<Found extends CfnResource>(among: readonly unknown[], isIt: (x: unknown) => x is Found): Found {
  const [found, second] = among.filter((candidate): candidate is Found => isIt(candidate));
  if (found === undefined || second !== undefined) throw new Error("there must be exactly one such resource");
  return found;
}

const workerOf = ({ entry, environment }: z.infer<typeof workerSchema> = {}): WorkerProps => ({
  ...(entry === undefined ? {} : { entry }),
  ...(environment === undefined ? {} : { environment }),
});

// Unknown names and bad values are for the construct to refuse.
const limitsOf = (limits: Readonly<Record<string, number>> | undefined): { readonly limits?: Partial<Limits> } =>
  limits === undefined ? {} : { limits: limits satisfies Record<string, number> as Partial<Limits> };

const app = new App();
for (const entry of z.array(testStackSchema).parse(JSON.parse(process.env.LEASEHOLD_TEST_STACKS ?? "[]"))) {
  const { name, namespace, limits, tools, worker, pools = {} } = entry;
  const stack = new LeaseholdStack(app, name, {
    namespace,
    removable: true,
    tools: tools ?? join(projectRoot, "functions", "tools", "index.ts"),
    ...limitsOf(limits),
    worker: workerOf(worker),
    pools: Object.fromEntries(
      Object.entries(pools).map(([pool, own]) => [
        pool,
        { ...workerOf(worker), tools: own.tools, ...limitsOf(own.limits) },
      ]),
    ),
  });
  addEndpoints(stack.leasehold, entry.endpoints);
  disable(stack.leasehold, entry.disabled);
}
