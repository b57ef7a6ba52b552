/** A Leasehold deployment, and beside it the function that starts plans: all that it is allowed is to send to one queue. */
import { join } from "node:path";
import { App, CfnOutput, Duration, Stack } from "aws-cdk-lib";
import { Runtime } from "aws-cdk-lib/aws-lambda";
import { NodejsFunction } from "aws-cdk-lib/aws-lambda-nodejs";
import { Leasehold } from "../../infra/index.ts";

const stack = new Stack(new App(), "AgentPlan");

const leasehold = new Leasehold(stack, "Leasehold", {
  namespace: "agent-plan",
  tools: join(import.meta.dirname, "tools.ts"),
  removable: true,
});

const sendPlan = new NodejsFunction(stack, "SendPlan", {
  entry: join(import.meta.dirname, "send-plan.ts"),
  runtime: Runtime.NODEJS_24_X,
  timeout: Duration.seconds(30),
  environment: { COMMANDS_QUEUE_URL: leasehold.queues.commands.queueUrl },
  // With the SDK in it, it runs the same on a local AWS, whose runtime has none.
  bundling: { externalModules: [] },
});
leasehold.grantStart(sendPlan);

new CfnOutput(stack, "SendPlanFunctionName", { value: sendPlan.functionName });
