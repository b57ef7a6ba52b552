import { RemovalPolicy } from "aws-cdk-lib";

/**
 * What becomes of things that hold data when the stack is removed. RETAIN_ON_UPDATE_OR_DELETE and not RETAIN, which
 * would also keep the debris of a first deploy that failed, a set of it for each try.
 */
export const keeping = (removable: boolean): RemovalPolicy =>
  removable ? RemovalPolicy.DESTROY : RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE;

/**
 * The same for what is protected from deletion while it is kept. A deploy that fails deletes what it has just made and would not
 * retain (aws-attribute-deletionpolicy.html); the protection refuses that, and the stack is left in ROLLBACK_FAILED. An empty
 * table that stays behind costs nothing and is in nobody's way.
 */
export const keepingProtected = (removable: boolean): RemovalPolicy =>
  removable ? RemovalPolicy.DESTROY : RemovalPolicy.RETAIN;
