import type { Duration } from "aws-cdk-lib";
import * as sqs from "aws-cdk-lib/aws-sqs";
import type { Construct } from "constructs";

export type SealedQueueProps = {
  readonly retention: Duration;
  /** @default the 30 s of SQS */
  readonly visibility?: Duration;
  readonly deadLetters?: sqs.DeadLetterQueue;
};

/**
 * A standard queue that speaks TLS only and is encrypted with the queue service's own key. The encryption is said out loud,
 * since the service's default holds only for queues that were created without any encryption attribute (sqs-configure-sqs-sse-queue.html).
 */
export class SealedQueue extends sqs.Queue {
  constructor(scope: Construct, id: string, props: SealedQueueProps) {
    super(scope, id, {
      encryption: sqs.QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      retentionPeriod: props.retention,
      ...(props.visibility === undefined ? {} : { visibilityTimeout: props.visibility }),
      ...(props.deadLetters === undefined ? {} : { deadLetterQueue: props.deadLetters }),
    });
  }
}
