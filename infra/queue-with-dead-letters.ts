import type { Duration } from "aws-cdk-lib";
import type * as sqs from "aws-cdk-lib/aws-sqs";
import { Construct } from "constructs";
import { SealedQueue } from "./sealed-queue.ts";

export type QueueWithDeadLettersProps = {
  readonly visibility: Duration;
  readonly retention: Duration;
  /** Longer than `retention`: a dead letter keeps the time of its first send (sqs-dead-letter-queues.html). */
  readonly deadLetterRetention: Duration;
  /** Receives before a message is set aside. Throttled deliveries count as well, so this is no attempt count. */
  readonly maxReceives: number;
};

/** A queue that a function consumes, and where its messages go that no delivery could finish. */
export class QueueWithDeadLetters extends Construct {
  readonly queue: sqs.Queue;
  readonly deadLetters: sqs.Queue;

  constructor(scope: Construct, id: string, props: QueueWithDeadLettersProps) {
    super(scope, id);
    this.deadLetters = new SealedQueue(this, "DeadLetters", { retention: props.deadLetterRetention });
    this.queue = new SealedQueue(this, "Queue", {
      retention: props.retention,
      visibility: props.visibility,
      deadLetters: { queue: this.deadLetters, maxReceiveCount: props.maxReceives },
    });
  }
}
