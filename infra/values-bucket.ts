import { Duration } from "aws-cdk-lib";
import * as iam from "aws-cdk-lib/aws-iam";
import * as s3 from "aws-cdk-lib/aws-s3";
import { Construct } from "constructs";
import { fixed, type Limits } from "../shared/limits.ts";
import { keeping } from "./keeping.ts";

export type ValuesBucketProps = {
  readonly limits: Limits;
  /** The bucket goes with the stack, once it is empty: CloudFormation deletes no other. */
  readonly removable: boolean;
};

const dayMs = 86_400_000;

/**
 * How long an object is kept. It must outlive the node that points to it, whose time to live is at most the longest deadline
 * and the retention after its run was accepted, and goes some days late. An object is never older than its run; so one rule
 * that counts from the object's own birth is safe for every run, where one by the run's own deadline would need a tag, or a
 * folder, for each length. What a short run leaves is stored longer than it need be, which costs cents a GB.
 */
const keptDays = ({ retentionMs }: Limits): number =>
  Math.ceil((fixed.runDeadlineMs + retentionMs + fixed.expiryDelayMs) / dayMs);

/** The one bucket, for outputs that are too large for the table. Objects are written once and read by name, never listed. */
export class ValuesBucket extends Construct {
  readonly bucket: s3.Bucket;

  constructor(scope: Construct, id: string, props: ValuesBucketProps) {
    super(scope, id);
    this.bucket = new s3.Bucket(this, "Bucket", {
      encryption: s3.BucketEncryption.S3_MANAGED,
      blockPublicAccess: s3.BlockPublicAccess.BLOCK_ALL,
      objectOwnership: s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
      enforceSSL: true,
      lifecycleRules: [{ id: "outlives-its-node", expiration: Duration.days(keptDays(props.limits)) }],
      removalPolicy: keeping(props.removable),
    });
  }

  /** Allows actions on the objects and on nothing else: `grantRead` would allow listing the bucket too. */
  allowObjects(grantee: iam.IGrantable, ...actions: readonly string[]): iam.Grant {
    return iam.Grant.addToPrincipal({ grantee, actions: [...actions], resourceArns: [this.bucket.arnForObjects("*")] });
  }
}
