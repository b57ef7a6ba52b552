import { Duration } from "aws-cdk-lib";
import * as events from "aws-cdk-lib/aws-events";
import * as targets from "aws-cdk-lib/aws-events-targets";
import type * as lambda from "aws-cdk-lib/aws-lambda";
import type { Construct } from "constructs";

/** A tick is not worth repeating: the next one is a minute away and finds the same work. */
const tickAgeLimit = Duration.seconds(60);

/**
 * Wakes the scanner each minute. A rule and not a schedule of EventBridge Scheduler, since local emulators fire rules only.
 * The rule hands over asynchronously, so both its own retries and those of the function's asynchronous invocation are off
 * (invocation-async-error-handling.html).
 */
export class ScanRule extends events.Rule {
  constructor(scope: Construct, id: string, scanner: lambda.Function) {
    super(scope, id, { schedule: events.Schedule.rate(Duration.minutes(1)) });
    this.addTarget(new targets.LambdaFunction(scanner, { retryAttempts: 0, maxEventAge: tickAgeLimit }));
    scanner.configureAsyncInvoke({ retryAttempts: 0, maxEventAge: tickAgeLimit });
  }
}
