/** One of the things that are compared: how it is given a job, and how to see that the job has ended. */
import { GetQueueAttributesCommand, SendMessageCommand, type SQSClient } from "@aws-sdk/client-sqs";
import type { Client } from "../../../client/client.ts";
import { queuesOf } from "../../support/e2e-queues.ts";
import type { Provider } from "../../support/provider.ts";
import type { BenchedClass } from "./variants.ts";

export type Subject = {
  readonly name: string;
  start(job: string): Promise<void>;
  /** Whether all of the job has been done, as far as the subject itself knows. */
  isFinished(job: string): Promise<boolean>;
  /** Messages in its queues and their dead-letter queues, in whatever state. */
  messages(): Promise<number>;
  /** What the gate's text at its return holds when the whole job, and not a part of it, is behind it. */
  returning(job: string): readonly string[];
  /** What a person would do about the job, or nothing. @returns how often that was needed so far. */
  tend(job: string): Promise<number>;
};

type Output = (name: string) => string;

export function peer(name: string, called: string, sqs: SQSClient, output: Output, provider: Provider): Subject {
  const queues = [output(`${called}QueueUrl`), output(`${called}DeadLettersUrl`)];
  const messages = async (): Promise<number> => {
    const depths = await Promise.all(queues.map((url) => depthOf(sqs, url)));
    return depths.reduce((sum, depth) => sum + depth, 0);
  };
  return {
    name,
    start: async (job) => {
      const body = JSON.stringify({ customer: job });
      await sqs.send(new SendMessageCommand({ QueueUrl: output(`${called}QueueUrl`), MessageBody: body }));
    },
    // It keeps no state: that its message was acknowledged is all that it knows.
    isFinished: async (job) => (await messages()) === 0 && effectsOf(provider, job, "/mails").length > 0,
    messages,
    returning: (job) => [job],
    tend: async () => 0,
  };
}

export async function leasehold(
  effect: BenchedClass,
  sqs: SQSClient,
  output: Output,
  client: Client,
  provider: Provider,
): Promise<Subject> {
  const queues = await queuesOf(sqs, output);
  const code = { $output: "buy", pointer: "/code" };
  const tended = new Map<string, number>();
  return {
    name: `Leasehold ${effect}`,
    start: async (job) => {
      await client.startRun({
        runId: job,
        nodes: [
          { nodeId: "buy", tool: `buy-${effect}`, input: { customer: job, amount: 25 } },
          { nodeId: "save", tool: `save-${effect}`, input: { customer: job, code } },
          { nodeId: "mail", tool: `mail-${effect}`, input: { customer: job, code }, dependsOn: ["save"] },
        ],
      });
    },
    isFinished: async (job) => {
      const run = await client.getRun(job);
      if (run?.ended === true && run.status !== "SUCCEEDED") throw new Error(`run ${job} ended ${run.status}`);
      return run?.ended === true;
    },
    messages: queues.depth,
    returning: (job) => [job, "mail"],
    tend: async (job) => {
      const run = await client.getRun(job);
      for (const node of run?.nodes ?? []) {
        if (node.doubt === undefined) continue;
        await resolve(client, provider, job, node.nodeId, node.doubt.epoch);
        tended.set(job, (tended.get(job) ?? 0) + 1);
      }
      return tended.get(job) ?? 0;
    },
  };
}

const pathOfNode: Readonly<Record<string, string>> = { buy: "/vouchers", save: "/saved-vouchers", mail: "/mails" };

/** As a person would: by what stands in the provider's books. */
async function resolve(client: Client, provider: Provider, job: string, nodeId: string, epoch: number): Promise<void> {
  const [made] = effectsOf(provider, job, pathOfNode[nodeId] ?? "");
  const said = { epoch, by: "the bench", why: "the provider's books" };
  const handle = await client.resolveNode(
    job,
    nodeId,
    made === undefined
      ? { ...said, resolution: "not_done" }
      : { ...said, resolution: "succeeded", output: made.answer },
  );
  await handle.accepted({ timeoutMs: 20_000 });
}

export const isOfJob = (body: unknown, job: string): boolean =>
  typeof body === "object" && body !== null && Reflect.get(body, "customer") === job;

/** Effects that the provider has made for a job at one of its paths. */
export function effectsOf(provider: Provider, job: string, path: string): Provider["effects"] {
  const calls = new Set(provider.calls.filter((call) => isOfJob(call.body, job)).map((call) => call.sequence));
  return provider.effectsOf(path).filter((effect) => calls.has(effect.sequence));
}

async function depthOf(sqs: SQSClient, url: string): Promise<number> {
  const { Attributes = {} } = await sqs.send(new GetQueueAttributesCommand({ QueueUrl: url, AttributeNames: ["All"] }));
  const counts = ["", "NotVisible", "Delayed"].map((name) =>
    Reflect.get(Attributes, `ApproximateNumberOfMessages${name}`),
  );
  return counts.reduce((sum: number, count) => sum + Number(count ?? Number.NaN), 0);
}
