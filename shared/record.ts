/** Where an output or an error is kept: in its node while that stays in one write unit, else in an item of its own. */
import type { ErrorRecord } from "./errors.ts";
import { errorKey, outputKey } from "./keys.ts";
import type { NodeItem } from "./model.ts";
import { fitsInside } from "./size.ts";
import { noRecord, putBeside, type Record } from "./transitions.ts";
import type { Item, Put } from "./write.ts";

export type Recorded = {
  readonly record: Record;
  /** To be written before the commit that points to them. */
  readonly before: readonly Put[];
};

/** Kept free for the times of its end. The lease is counted as well: a node that is tried again gets the next one. */
const reservedBytes = 60;
const withoutResult = (node: NodeItem): Item => {
  const { output: _o, error: _e, ...rest } = node;
  return Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined)) as Item;
};

export function recordResult(node: NodeItem, output: string | undefined, error: ErrorRecord | undefined): Recorded {
  const kept = keepOutput(node, output);
  const withOutput = output === undefined ? node : { ...node, output };
  const failed = keepError(kept.before.length === 0 ? withOutput : node, error);
  return {
    record: {
      set: { ...kept.record.set, ...failed.record.set },
      remove: [...kept.record.remove, ...failed.record.remove],
    },
    before: [...kept.before, ...failed.before],
  };
}

function keepOutput(node: NodeItem, output: string | undefined): Recorded {
  if (output === undefined) return { record: noRecord, before: [] };
  if (fitsInside(withoutResult(node), "output", output, reservedBytes))
    return { record: { set: { output }, remove: [] }, before: [] };
  return {
    record: { set: { output_epoch: node.epoch }, remove: [] },
    before: [putBeside("output_beside", outputKey(node.run_id, node.node_id, node.epoch), node, output)],
  };
}

/** No error forgets the one of an earlier attempt: the node succeeded after all. */
function keepError(node: NodeItem, error: ErrorRecord | undefined): Recorded {
  if (error === undefined) return { record: { set: {}, remove: ["error", "error_epoch"] }, before: [] };
  const text = JSON.stringify(error);
  const base = { ...withoutResult(node), ...(node.output === undefined ? {} : { output: node.output }) };
  if (fitsInside(base, "error", text, reservedBytes))
    return { record: { set: { error: text }, remove: ["error_epoch"] }, before: [] };
  return {
    record: { set: { error_epoch: node.epoch }, remove: ["error"] },
    before: [putBeside("error_beside", errorKey(node.run_id, node.node_id, node.epoch), node, text)],
  };
}
