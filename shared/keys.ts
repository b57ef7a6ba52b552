/** Where each item stands. At most one part that a caller has chosen is in one key attribute, so no two ids can meet by joining. */
import { createHash } from "node:crypto";
import { fixed } from "./limits.ts";
import type { Key } from "./write.ts";

export const runPrefix = "RUN#";
export const nodePrefix = "NODE#";

export const runPartition = (runId: string): string => `${runPrefix}${runId}`;
export const runKey = (runId: string): Key => ({ pk: runPartition(runId), sk: "RUN" });
export const nodeKey = (runId: string, nodeId: string): Key => ({
  pk: runPartition(runId),
  sk: `${nodePrefix}${nodeId}`,
});
export const inputKey = (runId: string, nodeId: string): Key => ({ pk: runPartition(runId), sk: `INPUT#${nodeId}` });
export const dependentsKey = (runId: string, nodeId: string): Key => ({
  pk: runPartition(runId),
  sk: `DEPENDENTS#${nodeId}`,
});
export const outputKey = (runId: string, nodeId: string, epoch: number): Key => ({
  pk: runPartition(runId),
  sk: `OUTPUT#${epoch}#${nodeId}`,
});
/**
 * Name of the object that holds an output: hashes, so that any id gives a short name of plain characters. The epoch tells
 * attempts apart, and the content those who may write under one epoch: its owner, and whoever resolves its doubt.
 */
export const outputBlobKey = (
  node: { readonly run_id: string; readonly generation: string; readonly node_id: string },
  epoch: number,
  contentHash: string,
): string => `${hashOf([node.run_id, node.generation])}/${hashOf([node.node_id])}/${epoch}/${contentHash}`;

export const errorKey = (runId: string, nodeId: string, epoch: number): Key => ({
  pk: runPartition(runId),
  sk: `ERROR#${epoch}#${nodeId}`,
});
export const journalKey = (runId: string, nodeId: string): Key => ({
  pk: runPartition(runId),
  sk: `JOURNAL#${nodeId}`,
});
export const commandKey = (commandId: string): Key => ({ pk: `COMMAND#${commandId}`, sk: "COMMAND" });

/** Hashed, never time-ordered: a rising sort key keeps DynamoDB from splitting a hot partition (burst-adaptive-capacity.html). */
export const outboxKey = (runId: string, generation: string, cause: string): Key => ({
  pk: runPartition(runId),
  sk: `OUTBOX#${hashOf([runId, generation, cause])}`,
});

/** Hash of a list of strings that cannot be confused with another list. 64 hex characters. */
export const hashOf = (parts: readonly string[]): string =>
  createHash("sha256").update(JSON.stringify(parts)).digest("hex");

/** Tells the contents apart that one epoch may bring. 32 hex characters, so that a node that points to it stays small. */
export const contentHashOf = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, 32);

/** The same for every attempt of a node (I5): the idempotency key that a tool hands on. 64 ASCII characters. */
export const operationIdOf = (namespace: string, runId: string, generation: string, nodeId: string): string =>
  hashOf([namespace, runId, generation, nodeId]);

/** The same for every attempt of a step (I5). */
export const stepOperationIdOf = (operationId: string, step: string): string => hashOf([operationId, "step", step]);

export const scanShardOf = (runId: string): number =>
  Number.parseInt(hashOf([runId]).slice(0, 8), 16) % fixed.scanShards;
