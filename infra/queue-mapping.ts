import * as lambda from "aws-cdk-lib/aws-lambda";
import type * as sqs from "aws-cdk-lib/aws-sqs";
import type { Construct } from "constructs";

export type QueueMappingProps = {
  readonly queue: sqs.Queue;
  readonly consumer: lambda.Function;
  readonly batchSize: number;
  /** Invocations at the same time. @default as many as the account allows */
  readonly maxConcurrency?: number;
};

/**
 * Queue to function. It reports which messages failed, so a good one is not done again for a bad neighbour, and it has
 * no filter: a filtered message is deleted unseen (invocation-eventfiltering.html), and bad input is to be kept (I13).
 * Its id must not change: the new mapping would be made before the old one goes, and a second one for the same pair is refused.
 */
export class QueueMapping extends lambda.EventSourceMapping {
  constructor(scope: Construct, id: string, props: QueueMappingProps) {
    super(scope, id, {
      target: props.consumer,
      eventSourceArn: props.queue.queueArn,
      batchSize: props.batchSize,
      reportBatchItemFailures: true,
      // The mapping's and not the function's: what a reserved concurrency turns away has been received all the same (services-sqs-scaling.html).
      ...(props.maxConcurrency === undefined ? {} : { maxConcurrency: props.maxConcurrency }),
    });
    props.queue.grantConsumeMessages(props.consumer);
  }
}
