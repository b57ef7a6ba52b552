/** The example of an agent's plan, deployed beside the tests' stacks: a function that knows one queue starts what a model wrote. */
import { readFile } from "node:fs/promises";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { InvokeCommand, LambdaClient } from "@aws-sdk/client-lambda";
import { afterAll, beforeAll, expect, inject, it } from "vitest";
import { deploy } from "../../cli/local/deploy.ts";
import { localRegion } from "../../cli/local/local-env.ts";
import { createClient } from "../../client/index.ts";
import { type Harness, planned } from "../../examples/agent-plan/harness.ts";
import type { Plan, PlannedRun } from "../../examples/agent-plan/plan.ts";
import { readAnswer } from "../../examples/agent-plan/read-answer.ts";
import { expectSucceeded, newRunId } from "../support/deployment.ts";

const where = {
  endpoint: inject("e2e").endpoint,
  region: localRegion,
  credentials: { accessKeyId: "test", secretAccessKey: "test" },
};
const lambda = new LambdaClient(where);
const dynamo = new DynamoDBClient(where);
const client = createClient({ stackName: "AgentPlan", ...where });
let outputs: Readonly<Record<string, string>> = {};

beforeAll(async () => {
  const app = "node --import tsx examples/agent-plan/app.ts";
  outputs = (await deploy({ endpoint: where.endpoint, app, quiet: true })).AgentPlan ?? {};
});
afterAll(() => {
  lambda.destroy();
  dynamo.destroy();
});

const planIn = async (file: string): Promise<Plan> =>
  JSON.parse(await readFile(new URL(`../../examples/agent-plan/plans/${file}.json`, import.meta.url), "utf8"));

/** A model that says these plans, whatever it is told. */
function harnessOf(...files: readonly string[]): Harness {
  const plans = [...files];
  return {
    model: () => planIn(plans.shift() ?? "no-more-plans"),
    send: async (run) => {
      const FunctionName = outputs.SendPlanFunctionName;
      const answer = await lambda.send(new InvokeCommand({ FunctionName, Payload: JSON.stringify(run) }));
      expect(JSON.parse(Buffer.from(answer.Payload ?? []).toString())).toEqual({ sent: run.command_id });
    },
    answerTo: (commandId) => readAnswer(dynamo, outputs.TableName ?? "", commandId),
  };
}

it("a model's plan that is refused twice, with the call, field, rule and value, is mended and runs to its end", async () => {
  const runId = newRunId();
  const harness = harnessOf("1-unknown-tool", "2-wrong-argument", "3-accepted");
  const conversation = await planned(runId, "Take Ada to Paris", harness);
  expect(conversation.filter((_, place) => place % 2 === 0)).toEqual([
    "Take Ada to Paris",
    'Call "search" of the plan was refused (unknown_tool), and nothing has been done. Its field tool must be one of find-trains, book-seat, write-itinerary; you wrote search-trains. Write the whole plan again.',
    expect.stringMatching(
      /^Call "search" of the plan was refused \(bad_input\), .* Its field input\.date .*; you wrote "next Monday"\. Write the whole plan again\.$/,
    ),
  ]);

  const run = await client.waitForRun(runId, { timeoutMs: 60_000 });
  expectSucceeded(run);
  const { booking } = Object(run.nodes.find(({ nodeId }) => nodeId === "book")?.output);
  expect(booking).toMatch(/^B-/);
  expect(run.nodes.find(({ nodeId }) => nodeId === "tell")?.output).toEqual({
    text: `Ada takes Berlin-Paris 2 at 2026-05-04T12:00, booking ${booking}`,
  });
});

it("a function that was invoked twice for one plan has started one run", async () => {
  const runId = newRunId();
  const { send, answerTo } = harnessOf();
  const run: PlannedRun = { run_id: runId, command_id: runId, plan: await planIn("3-accepted") };
  await Promise.all([send(run), send(run)]);
  expect(await answerTo(runId)).toEqual({ outcome: "accepted" });
  expectSucceeded(await client.waitForRun(runId, { timeoutMs: 60_000 }));
});
