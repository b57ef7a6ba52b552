/** Set-up of a whole test project: one local AWS for all its files, or the one that AWS_ENDPOINT_URL names. */
import type { TestProject } from "vitest/node";
import { startMinistack } from "../../cli/local/ministack.ts";

declare module "vitest" {
  export interface ProvidedContext {
    /** Where the local AWS listens. */
    readonly endpoint: string;
  }
}

export default async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  const given = process.env.AWS_ENDPOINT_URL;
  if (given !== undefined && given !== "") {
    project.provide("endpoint", given);
    return undefined;
  }
  const local = await startMinistack();
  project.provide("endpoint", local.endpoint);
  return local.stop;
}
