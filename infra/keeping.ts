import { RemovalPolicy } from "aws-cdk-lib";

/**
 * What becomes of things that hold data when the stack is removed. RETAIN_ON_UPDATE_OR_DELETE and not RETAIN, which
 * would also keep the debris of a first deploy that failed, so that the next one meets names that are taken.
 */
export const keeping = (removable: boolean): RemovalPolicy =>
  removable ? RemovalPolicy.DESTROY : RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE;
