/** Values that stand beside their node: where they are, and how they are read back. */
import * as z from "zod";
import type { Json } from "./json.ts";
import { contentHashOf, dependentsKey, errorKey, inputKey, outputBlobKey, outputKey } from "./keys.ts";
import { type Dependent, dependentSchema, keyFields, type NodeItem, readItem, version, wholeNumber } from "./model.ts";
import type { Blobs, Table } from "./ports.ts";
import type { Key } from "./write.ts";

/** An immutable value too large for its node: the input, the dependents, or what an epoch brought. */
export const besideItemSchema = z.object({
  ...keyFields,
  kind: z.literal("beside"),
  v: version,
  generation: z.string(),
  value: z.string(),
  expires_at: wholeNumber.optional(),
});

/** Where outputs are read: small ones and middling ones in the table, large ones as objects. */
export type Outputs = { readonly table: Pick<Table, "get">; readonly blobs: Pick<Blobs, "get"> };

/** @throws Error when the item is missing, of another generation, or cannot be read now. */
async function besideValue(table: Pick<Table, "get">, key: Key, generation: string): Promise<string> {
  const item = await table.get(key);
  if (item === undefined) throw new Error(`item ${key.sk} of ${key.pk} is missing`);
  const beside = readItem(besideItemSchema, item);
  if (beside.generation !== generation)
    throw new Error(`item ${key.sk} of ${key.pk} belongs to another run of this id`);
  return beside.value;
}

export async function dependentsOf(table: Table, node: NodeItem): Promise<readonly Dependent[]> {
  const text =
    node.dependents_beside === true
      ? await besideValue(table, dependentsKey(node.run_id, node.node_id), node.generation)
      : (node.dependents ?? "[]");
  return dependentSchema.array().parse(JSON.parse(text));
}

export async function inputOf(table: Pick<Table, "get">, node: NodeItem): Promise<Json> {
  const text =
    node.input_beside === true
      ? await besideValue(table, inputKey(node.run_id, node.node_id), node.generation)
      : (node.input ?? "{}");
  return JSON.parse(text) as Json;
}

/** @returns JSON text, or undefined where the node has none. @throws Error when it is missing, or cannot be read now. */
export async function outputTextOf({ table, blobs }: Outputs, node: NodeItem): Promise<string | undefined> {
  if (node.output_epoch === undefined) return node.output;
  if (node.output_blob !== undefined) return blobText(blobs, node, node.output_epoch, node.output_blob);
  return besideValue(table, outputKey(node.run_id, node.node_id, node.output_epoch), node.generation);
}

async function blobText(blobs: Outputs["blobs"], node: NodeItem, epoch: number, contentHash: string): Promise<string> {
  const key = outputBlobKey(node, epoch, contentHash);
  const text = await blobs.get(key);
  if (text === undefined)
    throw new Error(`object ${key}, the output of node ${JSON.stringify(node.node_id)}, is missing`);
  if (contentHashOf(text) !== contentHash)
    throw new Error(`object ${key}, the output of node ${JSON.stringify(node.node_id)}, is not what was written`);
  return text;
}

/** @returns JSON text of an ErrorRecord, or undefined where the node has none. */
export async function errorTextOf(table: Pick<Table, "get">, node: NodeItem): Promise<string | undefined> {
  if (node.error_epoch === undefined) return node.error;
  return besideValue(table, errorKey(node.run_id, node.node_id, node.error_epoch), node.generation);
}
