/** What a stack was deployed from. */
import { CloudFormationClient, GetTemplateCommand } from "@aws-sdk/client-cloudformation";
import { type Where, wireOptions } from "./wire-times.ts";

/** @returns the template's text as it was sent, most often JSON. @throws what CloudFormation answers, for a stack that does not exist too. */
export type ReadStackTemplate = (stackName: string, signal?: AbortSignal) => Promise<string>;

/** A person waits for it, and a template may have a megabyte. */
const lookupTimes = { connectMs: 3_000, requestMs: 10_000, attempts: 3 };

/** One that was deleted is found by its unique id only, never by its name (API_GetTemplate.html). */
export const stackTemplate =
  (where: Where = {}): ReadStackTemplate =>
  async (stackName, signal) => {
    const client = new CloudFormationClient({ ...wireOptions(lookupTimes), ...where });
    try {
      const command = new GetTemplateCommand({ StackName: stackName, TemplateStage: "Original" });
      const answer = await client.send(command, signal === undefined ? {} : { abortSignal: signal });
      return answer.TemplateBody ?? "";
    } finally {
      client.destroy();
    }
  };
