/** How long a watcher has seen each node in its state. */
import type { NodeView, RunView } from "../client/index.ts";

export type Seen = {
  readonly sinceMs: number;
  /** It was so at the first look, and may have been so for longer. */
  readonly atFirst: boolean;
};
export type SeenSince = ReadonlyMap<string, Seen & { readonly state: string }>;

/** @param before of the look before, undefined at the first one. */
export const seenSince = (before: SeenSince | undefined, run: RunView, nowMs: number): SeenSince =>
  new Map(
    run.nodes.map((node) => {
      const state = stateOf(node);
      const old = before?.get(node.nodeId);
      const isSame = old !== undefined && old.state === state;
      return [node.nodeId, isSame ? old : { state, sinceMs: nowMs, atFirst: before === undefined }];
    }),
  );

/** Another claim is another state: the node has been run anew in between. */
const stateOf = ({ status, epoch }: NodeView): string => `${status} ${epoch}`;
