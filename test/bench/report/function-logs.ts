/** What the deployed functions wrote to their logs, and how often each was invoked. */
import { GetFunctionConfigurationCommand } from "@aws-sdk/client-lambda";
import { z } from "zod";
import { askAws } from "./aws-json.ts";
import type { Deployed } from "./deployment.ts";
import type { FunctionName } from "./tally.ts";

export type Invoked = {
  readonly invocations: number;
  /** What the function's own code has written; the platform's lines are not in it. */
  readonly ownLogBytes: number;
  /** As the local AWS reports them, its own share of the way there included. */
  readonly durationsMs: readonly number[];
};

const answerSchema = z.object({
  events: z.array(z.object({ message: z.string() })),
  nextToken: z.string().optional(),
});

/** @param sinceMs only what was written then or later. */
export async function invokedSince(deployed: Deployed, name: FunctionName, sinceMs: number): Promise<Invoked> {
  const FunctionName = deployed.output(`${name[0]?.toUpperCase()}${name.slice(1)}FunctionName`);
  const { LoggingConfig } = await deployed.lambda.send(new GetFunctionConfigurationCommand({ FunctionName }));
  const lines = await linesOf(deployed.endpoint, LoggingConfig?.LogGroup ?? `/aws/lambda/${FunctionName}`, sinceMs);
  const reports = lines.filter((line) => line.startsWith("REPORT "));
  const own = lines.filter((line) => !/^(START|END|REPORT) /.test(line));
  return {
    invocations: reports.length,
    ownLogBytes: own.reduce((sum, line) => sum + Buffer.byteLength(line), 0),
    durationsMs: reports.flatMap((line) => {
      const found = /Duration: ([\d.]+) ms/.exec(line);
      return found === null ? [] : [Number(found[1])];
    }),
  };
}

async function linesOf(endpoint: string, logGroupName: string, startTime: number): Promise<readonly string[]> {
  const lines: string[] = [];
  let nextToken: string | undefined;
  do {
    const more = nextToken === undefined ? {} : { nextToken };
    const answer = answerSchema.parse(
      await askAws(endpoint, "logs", "Logs_20140328.FilterLogEvents", { logGroupName, startTime, ...more }),
    );
    lines.push(...answer.events.map(({ message }) => message));
    nextToken = answer.nextToken;
  } while (nextToken !== undefined);
  return lines;
}
