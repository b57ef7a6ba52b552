/** Fakes for the tests of leasehold/testing: a provider that may know its operations again, and tools that use it. */
import * as z from "zod";
import { type AnyTool, defineTool, type Tool } from "../../../shared/tool.ts";
import { callOutside } from "../../../testing/index.ts";

export const any = z.record(z.string(), z.json());

/** A tool that takes and gives any JSON object. */
export const toolOf = (tool: Pick<AnyTool, "name" | "execute"> & Partial<AnyTool>): AnyTool =>
  defineTool({ input: any, output: any, effect: "idempotent", ...tool } as Tool) as AnyTool;

export function fakeProvider() {
  const charges: { readonly key: string; readonly amount: number }[] = [];
  return {
    charges,
    /** Knows its keys. */
    charge: (key: string, amount: number) =>
      callOutside("charge", () => {
        if (!charges.some((charge) => charge.key === key)) charges.push({ key, amount });
        return { charge: charges.findIndex((charge) => charge.key === key) };
      }),
    /** Charges again whatever the key. */
    chargeBlindly: (key: string, amount: number) =>
      callOutside("charge", () => ({ charge: charges.push({ key, amount }) - 1 })),
    find: (key: string) => callOutside("find", () => charges.findIndex((charge) => charge.key === key)),
  };
}
export type FakeProvider = ReturnType<typeof fakeProvider>;

export const careless = (provider: FakeProvider): AnyTool =>
  toolOf({ name: "pay", execute: (_input, { operationId }) => provider.chargeBlindly(operationId, 5) });

export const pay = (provider: FakeProvider, more: Partial<AnyTool> = {}): AnyTool =>
  toolOf({ name: "pay", execute: (_input, { operationId }) => provider.charge(operationId, 5), ...more });

export const once = (provider: FakeProvider): AnyTool =>
  toolOf({
    name: "pay",
    effect: "at_most_once",
    execute: (_input, { operationId }) => provider.chargeBlindly(operationId, 5),
  });

export const lookedUp = (provider: FakeProvider): AnyTool =>
  toolOf({
    name: "pay",
    effect: "reconcilable",
    execute: (_input, { operationId }) => provider.chargeBlindly(operationId, 5),
    reconcile: async (_input, { operationId }) => {
      const found = await provider.find(operationId);
      return found < 0 ? { is: "not_done" } : { is: "done", output: { charge: found } };
    },
  });

export const node = (nodeId: string, tool: string, ...dependsOn: string[]) => ({ nodeId, tool, dependsOn });
