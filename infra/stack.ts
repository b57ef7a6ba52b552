import { Stack, type StackProps } from "aws-cdk-lib";
import type { Construct } from "constructs";
import { Leasehold } from "./leasehold.ts";
import type { LeaseholdProps } from "./props.ts";

export type LeaseholdStackProps = StackProps & LeaseholdProps;

/** One deployment and nothing else. */
export class LeaseholdStack extends Stack {
  readonly leasehold: Leasehold;

  constructor(scope: Construct, id: string, props: LeaseholdStackProps) {
    super(scope, id, props);
    this.leasehold = new Leasehold(this, "Leasehold", props);
  }
}
