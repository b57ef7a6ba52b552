import { CfnOutput, Stack } from "aws-cdk-lib";
import type { Construct } from "constructs";
import type { Leasehold } from "./leasehold.ts";

/** What clients and the command line look for, and what a person should know before the stack is destroyed. */
export function outputsOf(
  { table, valuesBucket, queues, functions, mappings, scanRule, pools }: Leasehold,
  namespace: string,
  removable: boolean,
): Readonly<Record<string, string>> {
  const ofPools = Object.entries(pools).map(
    ([name, pool]) =>
      [
        name,
        {
          queueUrl: pool.queue.queueUrl,
          functionName: pool.function.functionName,
          mappingId: pool.mapping.eventSourceMappingId,
        },
      ] as const,
  );
  return {
    Namespace: namespace,
    TableName: table.tableName,
    ValuesBucketName: valuesBucket.bucketName,
    CommandsQueueUrl: queues.commands.queueUrl,
    DispatchQueueUrl: queues.dispatch.queueUrl,
    RejectedQueueUrl: queues.rejected.queueUrl,
    CommandsFunctionName: functions.commands.functionName,
    RelayFunctionName: functions.relay.functionName,
    WorkerFunctionName: functions.worker.functionName,
    ScannerFunctionName: functions.scanner.functionName,
    ScanRuleName: scanRule.ruleName,
    DispatchMappingId: mappings.dispatch.eventSourceMappingId,
    StreamMappingId: mappings.outbox.eventSourceMappingId,
    // One for all of them, since a name of an output takes fewer characters than that of a pool.
    ...(ofPools.length === 0 ? {} : { Pools: Stack.of(table).toJsonString(Object.fromEntries(ofPools)) }),
    KeptOnDestroy: removable
      ? `nothing; bucket ${valuesBucket.bucketName} must be empty before`
      : `table ${table.tableName}, which is protected from deletion, bucket ${valuesBucket.bucketName}, and the functions' log groups`,
  };
}

/** Deployments of each stack, in the order in which they came. */
const deployments = new WeakMap<Stack, number>();

/**
 * Outputs of the stack that a deployment stands in. Those of its first deployment have the plain names that clients and the
 * command line look for; those of each further one begin with the id of its construct: `SecondTableName`.
 */
export function addOutputs(scope: Construct, outputs: Readonly<Record<string, string>>): void {
  const stack = Stack.of(scope);
  const before = deployments.get(stack) ?? 0;
  deployments.set(stack, before + 1);
  const prefix = before === 0 ? "" : scope.node.id.replace(/[^A-Za-z0-9]/g, "");
  for (const [name, value] of Object.entries(outputs))
    new CfnOutput(scope, name, { value }).overrideLogicalId(`${prefix}${name}`);
}
