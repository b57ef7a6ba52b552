/** The three vouchers: the same graph, bought by a tool of another effect class each. */
import type { EffectClass } from "../../shared/tool.ts";

export type Part = {
  readonly effect: Exclude<EffectClass, "read_only">;
  /** The tool that buys; saving and mailing are idempotent in all three. */
  readonly tool: string;
  /** By the customer the provider's books tell the three apart. */
  readonly customer: string;
};

export const cast: readonly Part[] = [
  { effect: "idempotent", tool: "buy-voucher", customer: "ada@example.com" },
  { effect: "reconcilable", tool: "buy-voucher-reconcilable", customer: "grace@example.com" },
  { effect: "at_most_once", tool: "buy-voucher-at-most-once", customer: "alan@example.com" },
];
