/** Which tools a deployment has: its stack's template says it. */
import * as z from "zod";
import { clientError } from "../client/errors.ts";
import type { ReadStackTemplate } from "../shared/adapters/stack-template.ts";
import { type ListedTool, listedToolSchema } from "../shared/listed-tool.ts";

/** The resource metadata that the construct writes. */
export const toolsKey = "leasehold:tools";

const templateSchema = z.object({
  Resources: z.record(
    z.string(),
    z.object({ Metadata: z.object({ [toolsKey]: z.array(listedToolSchema).optional() }).optional() }),
  ),
});

/** Loaded only here: no other command asks CloudFormation for a template. */
const fromCloudFormation: ReadStackTemplate = async (stackName, signal) =>
  (await import("../shared/adapters/stack-template.ts")).stackTemplate()(stackName, signal);

/**
 * One list for each Leasehold in the stack.
 * @throws ClientError `not_configured` where there is no such stack, or none that says which tools it has.
 */
export async function deployedTools(
  stackName: string,
  readTemplate: ReadStackTemplate = fromCloudFormation,
  signal?: AbortSignal,
): Promise<readonly (readonly ListedTool[])[]> {
  const named = `stack ${JSON.stringify(stackName)}`;
  const text = await readTemplate(stackName, signal).catch((cause: unknown) => {
    if (!(cause instanceof Error) || !/does not exist/.test(cause.message)) throw cause;
    throw clientError(
      "not_configured",
      `there is no ${named} in this account and region; deploy it, or name another in LEASEHOLD_STACK`,
      cause,
    );
  });
  const template = templateSchema.safeParse(jsonOf(text));
  const lists = template.success
    ? Object.values(template.data.Resources).flatMap(({ Metadata }) => {
        const tools = Metadata?.[toolsKey];
        return tools === undefined ? [] : [tools];
      })
    : [];
  if (lists.length > 0) return lists;
  throw clientError(
    "not_configured",
    `${named} must have a resource with the metadata ${toolsKey} in its template, got none; is it a Leasehold stack, deployed with this version or a later one?`,
  );
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
