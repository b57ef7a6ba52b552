/** The template that a deploy would send, without the bundling, which is slow and which most of these tests do not look at. Equal props are synthesised once. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { App } from "aws-cdk-lib";
import { Template } from "aws-cdk-lib/assertions";
import { z } from "zod";
import { projectRoot } from "../../infra/package-root.ts";
import type { LeaseholdProps } from "../../infra/props.ts";
import { LeaseholdStack } from "../../infra/stack.ts";

const cdkJson: unknown = JSON.parse(readFileSync(join(projectRoot, "cdk.json"), "utf8"));
const flags = z.object({ context: z.record(z.string(), z.unknown()) }).parse(cdkJson).context;

/** A module that is there; without bundling nobody looks into it. */
export const someTools = join(projectRoot, "functions", "tools", "index.ts");

/** An app in which a deployer's own things stand beside a deployment. Nothing is bundled. */
export const plainApp = (): App => new App({ context: { ...flags, "aws:cdk:bundling-stacks": [] } });

/** An app that bundles, as a deploy does. */
export const bundlingApp = (outdir?: string): App =>
  new App({ context: flags, ...(outdir === undefined ? {} : { outdir }) });

const templates = new Map<string, Template>();

export function synth(props: Partial<LeaseholdProps> = {}): Template {
  // A prop that is there and undefined is another case than one that is missing.
  const key = JSON.stringify(props, (_, value: unknown) => (value === undefined ? "undefined" : value));
  const known = templates.get(key);
  if (known !== undefined) return known;
  const stack = new LeaseholdStack(plainApp(), "Leasehold", { namespace: "test", tools: someTools, ...props });
  const template = Template.fromStack(stack);
  templates.set(key, template);
  return template;
}

const resourceSchema = z.object({
  Type: z.string(),
  Properties: z.record(z.string(), z.unknown()).default({}),
  DeletionPolicy: z.string().optional(),
  UpdateReplacePolicy: z.string().optional(),
  Metadata: z.record(z.string(), z.unknown()).optional(),
});
type Resource = z.infer<typeof resourceSchema>;

export const resourcesOf = (template: Template): Readonly<Record<string, Resource>> =>
  z.object({ Resources: z.record(z.string(), resourceSchema) }).parse(template.toJSON()).Resources;

export function resource(template: Template, logicalId: string): Resource {
  const found = resourcesOf(template)[logicalId];
  if (found === undefined) throw new Error(`the template has no resource ${logicalId}`);
  return found;
}

/** Logical ids that runs and messages hang on: with another id, CloudFormation makes another resource. */
export const ids = {
  table: "LeaseholdStateTable61659707",
  valuesBucket: "LeaseholdValuesBucket4296022D",
  commandsQueue: "LeaseholdCommandsQueue10F0C4C4",
  commandsDeadLetters: "LeaseholdCommandsDeadLetters3958FA97",
  dispatchQueue: "LeaseholdDispatchQueueE881BD8A",
  dispatchDeadLetters: "LeaseholdDispatchDeadLettersAD124E66",
  rejectedQueue: "LeaseholdRejectedB594AF26",
  streamFailures: "LeaseholdStreamFailures0D838DC1",
  commandsMapping: "LeaseholdCommandsMapping8CEDF009",
  dispatchMapping: "LeaseholdDispatchMappingE8F72F49",
  outboxMapping: "LeaseholdOutboxMapping16B24793",
  commands: "LeaseholdCommandsHandlerFunction0D0619EA",
  relay: "LeaseholdRelayFunction67BE6F00",
  worker: "LeaseholdWorkerFunction3AEA428B",
  scanner: "LeaseholdScannerFunction6FB20D94",
} as const;

export const functionIds = [ids.commands, ids.relay, ids.worker, ids.scanner] as const;

/** Arn of a resource, as the template writes it. */
export const arn = (logicalId: string): unknown => ({ "Fn::GetAtt": [logicalId, "Arn"] });
