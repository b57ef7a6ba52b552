import { CfnOutput, RemovalPolicy, Stack } from "aws-cdk-lib";
import { Queue } from "aws-cdk-lib/aws-sqs";
import type { Construct } from "constructs";
import { Leasehold } from "leasehold/cdk";

export type ShopStackProps = { readonly namespace: string };

/** A stack of the app's own: a queue that its tool sends to, and a Leasehold beside it. */
export class ShopStack extends Stack {
  constructor(scope: Construct, id: string, props: ShopStackProps) {
    super(scope, id);
    const parcels = new Queue(this, "Parcels", { removalPolicy: RemovalPolicy.DESTROY });
    const leasehold = new Leasehold(this, "Leasehold", {
      namespace: props.namespace,
      tools: "tools.ts",
      removable: true,
      worker: { environment: { PARCELS_URL: parcels.queueUrl } },
    });
    parcels.grantSendMessages(leasehold.worker);
    new CfnOutput(this, "ParcelsUrl", { value: parcels.queueUrl });
  }
}
