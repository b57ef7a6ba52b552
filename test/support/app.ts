/**
 * The CDK app of the tests: one removable stack for each entry of the JSON list in LEASEHOLD_TEST_STACKS.
 * The shipped constructs know nothing of faults: what a test bends, it bends here, on what they expose.
 */

import { join } from "node:path";
import { App, type CfnResource } from "aws-cdk-lib";
import { CfnRule } from "aws-cdk-lib/aws-events";
import { CfnEventSourceMapping } from "aws-cdk-lib/aws-lambda";
import { z } from "zod";
import { projectRoot } from "../../infra/bundled-function.ts";
import type { Leasehold } from "../../infra/leasehold.ts";
import { LeaseholdStack } from "../../infra/stack.ts";
import type { Limits } from "../../shared/limits.ts";

const endpointsSchema = z.strictObject({ dynamodb: z.url().optional(), sqs: z.url().optional() });

const testStackSchema = z.strictObject({
  name: z.string().min(1),
  namespace: z.string(),
  limits: z.record(z.string(), z.number()).optional(),
  /** @default functions/tools/index.ts */
  tools: z.string().optional(),
  workerEntry: z.string().optional(),
  workerEnvironment: z.record(z.string(), z.string()).optional(),
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

const app = new App();
for (const entry of z.array(testStackSchema).parse(JSON.parse(process.env.LEASEHOLD_TEST_STACKS ?? "[]"))) {
  const { name, namespace, limits, tools, workerEntry, workerEnvironment } = entry;
  const stack = new LeaseholdStack(app, name, {
    namespace,
    removable: true,
    tools: tools ?? join(projectRoot, "functions", "tools", "index.ts"),
    // Unknown names and bad values are for the construct to refuse.
    ...(limits === undefined ? {} : { limits: limits satisfies Record<string, number> as Partial<Limits> }),
    ...(workerEntry === undefined ? {} : { workerEntry }),
    ...(workerEnvironment === undefined ? {} : { workerEnvironment }),
  });
  addEndpoints(stack.leasehold, entry.endpoints);
  disable(stack.leasehold, entry.disabled);
}
