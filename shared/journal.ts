/** The journal of a node: what its steps gave back. */
import * as z from "zod";
import { keyFields, version, wholeNumber } from "./model.ts";

/** Remembered steps of a node; each in an attribute of its own, named by its place. Its epoch is the fence for all of them. */
export const journalItemSchema = z
  .looseObject({ ...keyFields, kind: z.literal("journal"), v: version, generation: z.string(), epoch: wholeNumber })
  .transform((item) => ({ generation: item.generation, epoch: item.epoch, steps: stepsIn(item) }));

const stepSchema = z.object({ name: z.string(), value: z.string().optional() });
export type RememberedStep = z.infer<typeof stepSchema>;

/** Attribute of the step that is asked for as the so-many-th. */
export const stepAttribute = (place: number): string => `step_${place}`;

function stepsIn(item: { readonly [attribute: string]: unknown }): ReadonlyMap<number, RememberedStep> {
  const steps = new Map<number, RememberedStep>();
  for (const [attribute, text] of Object.entries(item)) {
    const place = /^step_(\d+)$/.exec(attribute)?.[1];
    if (place !== undefined && typeof text === "string") steps.set(Number(place), stepSchema.parse(JSON.parse(text)));
  }
  return steps;
}
