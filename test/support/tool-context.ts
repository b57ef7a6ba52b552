import type { ToolContext } from "../../shared/tool.ts";

const silent = () => {};

/** What a tool is given besides its input, where a test calls it by itself; its steps simply run. */
export const toolContext = (part: Partial<ToolContext> = {}): ToolContext => ({
  operationId: "op",
  fencingToken: 1,
  attempt: 1,
  runId: "run",
  nodeId: "node",
  deadlineAtMs: 0,
  signal: new AbortController().signal,
  log: { debug: silent, info: silent, warn: silent, error: silent },
  step: (_name, run) => run({ operationId: "step", fencingToken: 1, signal: new AbortController().signal }),
  ...part,
});
