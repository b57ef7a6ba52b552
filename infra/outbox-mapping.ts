import { Duration } from "aws-cdk-lib";
import type * as dynamodb from "aws-cdk-lib/aws-dynamodb";
import * as lambda from "aws-cdk-lib/aws-lambda";
import { SqsDlq } from "aws-cdk-lib/aws-lambda-event-sources";
import type * as sqs from "aws-cdk-lib/aws-sqs";
import type { Construct } from "constructs";
import { fixed } from "../shared/limits.ts";

export type OutboxMappingProps = {
  readonly table: dynamodb.TableV2;
  readonly relay: lambda.Function;
  /** Where the place in the stream of what could not be relayed is noted. */
  readonly failures: sqs.Queue;
};

/**
 * The table's stream to the relay: outbox entries only. A record that has no NewImage matches no such filter, so what the
 * table's TTL removes wakes nobody; the relay checks the kind again, since nothing may rest on a filter (I12).
 *
 * A record that cannot be relayed is cut out of its batch, tried a bounded number of times and then passed over: without
 * those bounds it would hold its lane until it expires a day later (services-dynamodb-errors.html). The scanner brings
 * what was passed over to its end.
 */
export class OutboxMapping extends lambda.EventSourceMapping {
  constructor(scope: Construct, id: string, props: OutboxMappingProps) {
    super(scope, id, {
      target: props.relay,
      eventSourceArn: streamArnOf(props.table),
      // LATEST would lose what is written while the mapping comes up (with-ddb.html).
      startingPosition: lambda.StartingPosition.TRIM_HORIZON,
      batchSize: fixed.streamBatch,
      reportBatchItemFailures: true,
      bisectBatchOnError: true,
      retryAttempts: fixed.streamRetryAttempts,
      maxRecordAge: Duration.millis(fixed.streamRecordAgeMs),
      onFailure: new SqsDlq(props.failures),
      filters: [lambda.FilterCriteria.filter({ dynamodb: { NewImage: { kind: { S: ["outbox"] } } } })],
      // One partition takes some 140 commits a second, more than one lane relays; nothing rests on order, so a shard may have four.
      parallelizationFactor: 4,
    });
    props.table.grantStreamRead(props.relay);
  }
}

function streamArnOf(table: dynamodb.TableV2): string {
  if (table.tableStreamArn === undefined) throw new Error("the table has no stream, and the relay lives on it");
  return table.tableStreamArn;
}
