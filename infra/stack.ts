import { CfnOutput, Stack, type StackProps } from "aws-cdk-lib";
import type { Construct } from "constructs";
import { Leasehold, type LeaseholdProps } from "./leasehold.ts";

export type LeaseholdStackProps = StackProps & LeaseholdProps;

/** One deployment. It defines nothing of its own but what it tells: the outputs that the command line and clients read. */
export class LeaseholdStack extends Stack {
  readonly leasehold: Leasehold;

  constructor(scope: Construct, id: string, props: LeaseholdStackProps) {
    super(scope, id, props);
    this.leasehold = new Leasehold(this, "Leasehold", props);
    const { table, valuesBucket, queues, functions, mappings, scanRule } = this.leasehold;
    const outputs = {
      Namespace: props.namespace,
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
    };
    for (const [name, value] of Object.entries(outputs)) new CfnOutput(this, name, { value });
  }
}
