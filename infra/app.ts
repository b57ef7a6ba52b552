/** The app that `cdk deploy` runs: `-c stackName=`, `-c namespace=`, `-c tools=`, `-c limits='{…}'`, `-c workerEnvironment='{…}'`, `-c logLevel=`, `-c alarms=true`, `-c removable=true`. */
import { App } from "aws-cdk-lib";
import { readSettings } from "./app-settings.ts";
import { LeaseholdStack } from "./stack.ts";

const app = new App();
const { stackName, ...props } = readSettings((name) => app.node.tryGetContext(name));
new LeaseholdStack(app, stackName, {
  ...props,
  description: "Leasehold: runs graphs of tool calls on SQS, Lambda and DynamoDB",
});
