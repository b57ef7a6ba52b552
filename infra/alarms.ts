import { Duration } from "aws-cdk-lib";
import * as cloudwatch from "aws-cdk-lib/aws-cloudwatch";
import type * as lambda from "aws-cdk-lib/aws-lambda";
import type * as sqs from "aws-cdk-lib/aws-sqs";
import { Construct } from "constructs";
import type { Worker } from "./worker.ts";

export type AlarmsProps = {
  /** Queues with those who work them off, by the name that their alarms begin with. */
  readonly consumed: Readonly<Record<string, Consumed>>;
  /** By name as well: queues of what no function will take up again. */
  readonly waiting: Readonly<Record<string, sqs.Queue>>;
  readonly scanner: lambda.Function;
};

type Consumed = Pick<Worker, "queue" | "deadLetters" | "function">;

const period = Duration.minutes(5);
/** A queue that nobody has used for hours reports nothing (sqs-monitoring-using-cloudwatch.html). */
const quietQueue = cloudwatch.TreatMissingData.NOT_BREACHING;

/** What needs a person, and only that: whatever repairs itself rings no bell. They do nothing until an action is added to them. */
export class Alarms extends Construct {
  readonly all: readonly cloudwatch.Alarm[];

  constructor(scope: Construct, id: string, { consumed, waiting, scanner }: AlarmsProps) {
    super(scope, id);
    const lost = Object.entries(consumed).map(
      ([name, { deadLetters }]) => [`${name}DeadLetters`, deadLetters] as const,
    );
    this.all = [
      ...[...Object.entries(waiting), ...lost].map(([name, queue]) => this.notEmpty(name, queue)),
      ...Object.entries(consumed).map(([name, each]) => this.old(name, each)),
      new cloudwatch.Alarm(this, "ScannerFails", {
        alarmDescription: "Leasehold: the scanner fails, so what is lost is not found again",
        metric: scanner.metricErrors({ period }),
        threshold: 3,
        evaluationPeriods: 3,
        comparisonOperator: cloudwatch.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
        treatMissingData: cloudwatch.TreatMissingData.NOT_BREACHING,
      }),
      new cloudwatch.Alarm(this, "ScannerSleeps", {
        alarmDescription: "Leasehold: nothing wakes the scanner, so what is lost is not found again",
        metric: scanner.metricInvocations({ period }),
        threshold: 1,
        evaluationPeriods: 3,
        comparisonOperator: cloudwatch.ComparisonOperator.LESS_THAN_THRESHOLD,
        treatMissingData: cloudwatch.TreatMissingData.BREACHING,
      }),
    ];
  }

  private notEmpty(name: string, queue: sqs.Queue): cloudwatch.Alarm {
    return new cloudwatch.Alarm(this, `${name}NotEmpty`, {
      alarmDescription: `Leasehold: something waits in ${name} for a person to look at it`,
      metric: queue.metricApproximateNumberOfMessagesVisible({ period, statistic: "max" }),
      threshold: 1,
      evaluationPeriods: 1,
      comparisonOperator: cloudwatch.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      treatMissingData: quietQueue,
    });
  }

  private old(name: string, { queue, function: consumer }: Consumed): cloudwatch.Alarm {
    const timeoutSeconds = consumer.timeout?.toSeconds() ?? 0;
    return new cloudwatch.Alarm(this, `${name}Old`, {
      alarmDescription: `Leasehold: messages wait in ${name} for longer than three invocations take: too few of them at once, or none that works`,
      metric: queue.metricApproximateAgeOfOldestMessage({ period, statistic: "max" }),
      threshold: 3 * timeoutSeconds,
      evaluationPeriods: 3,
      comparisonOperator: cloudwatch.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      treatMissingData: quietQueue,
    });
  }
}
