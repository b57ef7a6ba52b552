/** Where an output or an error is kept: in its node while that stays in one write unit, else in an item or an object of its own. */
import type { ErrorRecord } from "./errors.ts";
import { contentHashOf, errorKey, outputBlobKey, outputKey } from "./keys.ts";
import { fixed } from "./limits.ts";
import type { NodeItem } from "./model.ts";
import { fitsInside } from "./size.ts";
import { noRecord, putBeside, type Record } from "./transitions.ts";
import type { Item, Put } from "./write.ts";

export type Blob = { readonly key: string; readonly text: string };

export type Recorded = {
  readonly record: Record;
  /** To be written before the commit that points to them. */
  readonly before: readonly Put[];
  /** To be put before that commit too. */
  readonly blob?: Blob | undefined;
};

/** Kept free for the times of its end. The lease is counted as well: a node that is tried again gets the next one. */
const reservedBytes = 60;
const withoutResult = (node: NodeItem): Item => {
  const { output: _o, error: _e, ...rest } = node;
  return Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined)) as Item;
};

/** What an attempt brought; nobody else writes items under its epoch. */
export function recordResult(node: NodeItem, output: string | undefined, error: ErrorRecord | undefined): Recorded {
  const kept = keepOutput(node, output, fixed.outputBesideBytes);
  const failed = keepError({ ...node, ...kept.record.set }, error);
  return { ...joined(kept, failed), before: [...kept.before, ...failed.before] };
}

/**
 * What someone says of an attempt in doubt. Its owner may have left items under the epoch, and another who resolves it too:
 * so nothing is written there but objects, whose names tell contents apart.
 */
export function recordResolution(node: NodeItem, output: string | undefined, error: ErrorRecord | undefined): Recorded {
  const kept = keepOutput(node, output, 0);
  return joined(kept, error === undefined ? noError : inside(JSON.stringify(error)));
}

const joined = (kept: Recorded, failed: Recorded): Recorded => ({
  record: {
    set: { ...kept.record.set, ...failed.record.set },
    remove: [...kept.record.remove, ...failed.record.remove],
  },
  before: kept.before,
  blob: kept.blob,
});

function keepOutput(node: NodeItem, output: string | undefined, largestBeside: number): Recorded {
  if (output === undefined) return { record: noRecord, before: [] };
  if (fitsInside(withoutResult(node), "output", output, reservedBytes))
    return { record: { set: { output }, remove: [] }, before: [] };
  if (Buffer.byteLength(output, "utf8") <= largestBeside) {
    return {
      record: { set: { output_epoch: node.epoch }, remove: [] },
      before: [putBeside("output_beside", outputKey(node.run_id, node.node_id, node.epoch), node, output)],
    };
  }
  const hash = contentHashOf(output);
  return {
    record: { set: { output_epoch: node.epoch, output_blob: hash }, remove: [] },
    before: [],
    blob: { key: outputBlobKey(node, node.epoch, hash), text: output },
  };
}

/** No error forgets the one of an earlier attempt: the node succeeded after all. */
const noError: Recorded = { record: { set: {}, remove: ["error", "error_epoch"] }, before: [] };
const inside = (error: string): Recorded => ({ record: { set: { error }, remove: ["error_epoch"] }, before: [] });

function keepError(node: NodeItem, error: ErrorRecord | undefined): Recorded {
  if (error === undefined) return noError;
  const text = JSON.stringify(error);
  const base = { ...withoutResult(node), ...(node.output === undefined ? {} : { output: node.output }) };
  if (fitsInside(base, "error", text, reservedBytes)) return inside(text);
  return {
    record: { set: { error_epoch: node.epoch }, remove: ["error"] },
    before: [putBeside("error_beside", errorKey(node.run_id, node.node_id, node.epoch), node, text)],
  };
}
