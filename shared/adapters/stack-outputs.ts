/** What a deployed stack says of itself. */
import { CloudFormationClient, DescribeStacksCommand } from "@aws-sdk/client-cloudformation";
import { type Where, wireOptions } from "./wire-times.ts";

/** Reads the outputs of a deployed stack, by name. @throws what CloudFormation answers, for a stack that does not exist too. */
export type ReadStackOutputs = (stackName: string) => Promise<ReadonlyMap<string, string>>;

/** DescribeStacks is slower than the data services, and nobody's lease waits for it. */
const lookupTimes = { connectMs: 3_000, requestMs: 10_000, attempts: 3 };

export const stackOutputs =
  (where: Where = {}): ReadStackOutputs =>
  async (stackName) => {
    const client = new CloudFormationClient({ ...wireOptions(lookupTimes), ...where });
    try {
      const answer = await client.send(new DescribeStacksCommand({ StackName: stackName }));
      const outputs = new Map<string, string>();
      for (const { OutputKey, OutputValue } of answer.Stacks?.[0]?.Outputs ?? []) {
        if (OutputKey !== undefined && OutputValue !== undefined) outputs.set(OutputKey, OutputValue);
      }
      return outputs;
    } finally {
      // Asked once in a process's life, so its sockets are not kept.
      client.destroy();
    }
  };
