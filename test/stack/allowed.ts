/** What a role may do, read from the policies of a template. */
import type { Template } from "aws-cdk-lib/assertions";
import { z } from "zod";
import { resourcesOf } from "./synth.ts";

const oneOrMore = <Schema extends z.ZodType>(schema: Schema) =>
  z.union([z.array(schema), schema.transform((value) => [value])]);
const policySchema = z.object({
  Roles: z.array(z.object({ Ref: z.string() })).default([]),
  PolicyDocument: z.object({
    Statement: z.array(
      z.object({ Effect: z.literal("Allow"), Action: oneOrMore(z.string()), Resource: oneOrMore(z.json()) }),
    ),
  }),
});

/** All that the roles may do whose logical id begins so, as "action on resource". */
export function allowedTo(template: Template, role: string): readonly string[] {
  const policies = Object.values(resourcesOf(template))
    .filter(({ Type }) => Type === "AWS::IAM::Policy")
    .map(({ Properties }) => policySchema.parse(Properties))
    .filter(({ Roles }) => Roles.some(({ Ref }) => Ref.startsWith(role)));
  return policies
    .flatMap(({ PolicyDocument }) => PolicyDocument.Statement)
    .flatMap(({ Action, Resource }) =>
      Action.flatMap((action) => Resource.map((resource) => `${action} on ${JSON.stringify(resource)}`)),
    )
    .sort();
}

export const on = (resource: unknown, ...actions: readonly string[]): readonly string[] =>
  actions.map((action) => `${action} on ${JSON.stringify(resource)}`);
