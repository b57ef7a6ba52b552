import * as dynamodb from "aws-cdk-lib/aws-dynamodb";
import * as iam from "aws-cdk-lib/aws-iam";
import { Construct } from "constructs";
import { keepingProtected } from "./keeping.ts";

/** Name of the sparse index that lists the living runs by when each is due for a look. */
const scanIndex = "scan";

export type StateTableProps = {
  /** The table goes with the stack, unprotected. */
  readonly removable: boolean;
};

/**
 * The one table. It is a TableV2, the construct that AWS advises, although one replica needs none of what it adds: it renders
 * another CloudFormation type than Table does, and going from one to the other later would replace the table with its runs.
 */
export class StateTable extends Construct {
  readonly table: dynamodb.TableV2;

  constructor(scope: Construct, id: string, props: StateTableProps) {
    super(scope, id);
    this.table = new dynamodb.TableV2(this, "Table", {
      partitionKey: { name: "pk", type: dynamodb.AttributeType.STRING },
      sortKey: { name: "sk", type: dynamodb.AttributeType.STRING },
      billing: dynamodb.Billing.onDemand(),
      // Never to be changed: a stream's view cannot be changed in place, and off and on again is another stream (Streams.html).
      dynamoStream: dynamodb.StreamViewType.NEW_IMAGE,
      timeToLiveAttribute: "expires_at",
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      globalSecondaryIndexes: [
        {
          indexName: scanIndex,
          partitionKey: { name: "scan_shard", type: dynamodb.AttributeType.NUMBER },
          sortKey: { name: "scan_at_ms", type: dynamodb.AttributeType.NUMBER },
          projectionType: dynamodb.ProjectionType.KEYS_ONLY,
        },
      ],
      deletionProtection: !props.removable,
      removalPolicy: keepingProtected(props.removable),
    });
  }

  /**
   * Allows actions on the table's items and on nothing else; `table.grant` would allow them on every index too.
   * A transaction needs no action of its own beyond those of its parts (transaction-apis-iam.html).
   */
  allowItems(grantee: iam.IGrantable, ...actions: readonly string[]): iam.Grant {
    return iam.Grant.addToPrincipal({ grantee, actions: [...actions], resourceArns: [this.table.tableArn] });
  }

  /** Allows reading the list of the living runs. */
  allowScanIndex(grantee: iam.IGrantable): iam.Grant {
    return iam.Grant.addToPrincipal({
      grantee,
      actions: ["dynamodb:Query"],
      resourceArns: [`${this.table.tableArn}/index/${scanIndex}`],
    });
  }
}
