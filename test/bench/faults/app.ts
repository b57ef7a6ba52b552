/** The CDK app of `npm run bench:faults`: the peers in one stack, and Leasehold once for each effect class. */
import { join } from "node:path";
import { App, CfnOutput, Duration, Stack } from "aws-cdk-lib";
import * as dynamodb from "aws-cdk-lib/aws-dynamodb";
import type { Construct } from "constructs";
import { bundledCode } from "../../../infra/bundle.ts";
import { BundledFunction } from "../../../infra/bundled-function.ts";
import { keeping } from "../../../infra/keeping.ts";
import { projectRoot } from "../../../infra/package-root.ts";
import { QueueMapping } from "../../../infra/queue-mapping.ts";
import { QueueWithDeadLetters } from "../../../infra/queue-with-dead-letters.ts";
import { LeaseholdStack } from "../../../infra/stack.ts";
import { classes, limits, peers, stackOf } from "./variants.ts";

const here = import.meta.dirname;

type PeerProps = { readonly entry: string; readonly environment: Readonly<Record<string, string>> };

/** A queue, its dead letters and one function, with the very times that Leasehold's worker and its queue have. */
function addPeer(scope: Construct, name: string, props: PeerProps): BundledFunction {
  const { queue, deadLetters } = new QueueWithDeadLetters(scope, `${name}Jobs`, {
    visibility: Duration.millis(limits.queueVisibilityMs),
    retention: Duration.days(4),
    deadLetterRetention: Duration.days(14),
    maxReceives: 100,
  });
  const handler = new BundledFunction(scope, name, {
    description: `bench: the voucher job as ${name}`,
    code: bundledCode({ entry: join(here, "peers", `${props.entry}.ts`) }),
    timeout: Duration.millis(limits.functionTimeoutMs),
    memoryMiB: 512,
    environment: props.environment,
    inLoop: false,
    removable: true,
  });
  new QueueMapping(scope, `${name}Mapping`, { queue, consumer: handler.function, batchSize: 10 });
  new CfnOutput(scope, `${name}QueueUrl`, { value: queue.queueUrl });
  new CfnOutput(scope, `${name}DeadLettersUrl`, { value: deadLetters.queueUrl });
  return handler;
}

const environment = {
  PROVIDER_URL: process.env.BENCH_PROVIDER_URL ?? "",
  GATE_URL: process.env.BENCH_GATE_URL ?? "",
};
const app = new App();
const stack = new Stack(app, stackOf.peers);
addPeer(stack, peers.plain, { entry: "plain", environment });
addPeer(stack, peers.plainKeyed, { entry: "plain", environment: { ...environment, SEND_KEYS: "yes" } });

const idempotency = new dynamodb.TableV2(stack, "Idempotency", {
  partitionKey: { name: "id", type: dynamodb.AttributeType.STRING },
  timeToLiveAttribute: "expiration",
  removalPolicy: keeping(true),
});
const powertools = addPeer(stack, peers.powertools, {
  entry: "powertools",
  environment: { ...environment, IDEMPOTENCY_TABLE: idempotency.tableName },
});
idempotency.grantReadWriteData(powertools.function);

for (const effect of classes) {
  new LeaseholdStack(app, stackOf[effect], {
    namespace: `bench-${effect}`,
    removable: true,
    tools: join(here, "tools.ts"),
    worker: { entry: join(projectRoot, "test", "support", "worker-entry.ts"), environment },
    limits,
  });
}
