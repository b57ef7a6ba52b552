/** Small runs that between them take every way through the state machine. */

export type ScenarioNode = {
  readonly node_id: string;
  readonly tool: string;
  readonly depends_on: readonly string[];
  readonly input: object;
};

export type Scenario = {
  readonly name: string;
  readonly nodes: readonly ScenarioNode[];
  readonly deadlineMs?: number;
  /** Commands besides the start, each sent so long after it. */
  readonly commands?: readonly { readonly afterMs: number; readonly body: object }[];
  /** Message bodies that are no dispatches, put into the dispatch queue at the start. */
  readonly strayMessages?: readonly string[];
  /** Tools that the commands know and the worker does not: a deployment that lags behind. */
  readonly undeployed?: readonly string[];
  /** For so long the nodes look as a later version of this software would write them. */
  readonly unreadableForMs?: number;
  /** For so long large outputs cannot be kept. */
  readonly bucketDownForMs?: number;
  /** What the person says who is asked about a node in doubt; without one nobody is. */
  readonly resolver?: "truth" | "failed" | "two minds";
  /** The start must be refused. */
  readonly refused?: boolean;
  /** Too large for a start: the run is there from the first moment on. */
  readonly madeAtOnce?: boolean;
};

const node = (node_id: string, tool: string, ...depends_on: string[]): ScenarioNode => ({
  node_id,
  tool,
  depends_on,
  input: {},
});
export const runId = "run";
const cancelAfter = (afterMs: number) => [
  { afterMs, body: { type: "cancel_run", run_id: runId, command_id: `cancel-${afterMs}`, reason: "enough" } },
];

export const scenarios: readonly Scenario[] = [
  { name: "single", nodes: [node("a", "act")] },
  { name: "chain-2", nodes: [node("a", "act"), node("b", "act", "a")] },
  { name: "chain-3", nodes: [node("a", "act"), node("b", "read", "a"), node("c", "act", "b")] },
  { name: "join-2", nodes: [node("a", "act"), node("b", "act"), node("c", "act", "a", "b")] },
  {
    name: "diamond",
    nodes: [node("a", "act"), node("b", "act", "a"), node("c", "act", "a"), node("d", "act", "b", "c")],
  },
  { name: "fan-out-3", nodes: [node("a", "act"), node("b", "act", "a"), node("c", "act", "a"), node("d", "act", "a")] },
  { name: "failure", nodes: [node("a", "fails"), node("b", "act", "a"), node("c", "act", "b"), node("d", "act")] },
  {
    name: "failure-into-join",
    nodes: [node("a", "fails"), node("b", "act"), node("c", "act", "a", "b"), node("d", "act", "c")],
  },
  { name: "retry", nodes: [node("a", "retries"), node("b", "act", "a")] },
  { name: "unsure", nodes: [node("a", "unsure"), node("b", "act", "a")] },
  { name: "one-attempt", nodes: [node("a", "act-once-tried"), node("b", "act", "a")] },
  { name: "slow", nodes: [node("a", "slow"), node("b", "act", "a")] },
  { name: "never-stops", nodes: [node("a", "never-stops"), node("b", "act", "a")] },
  { name: "bad-output", nodes: [node("a", "bad-output"), node("b", "act", "a")] },
  {
    name: "large-output",
    nodes: [
      node("a", "large"),
      { node_id: "b", tool: "reads-large", depends_on: ["a"], input: { text: { $output: "a", pointer: "/text" } } },
    ],
  },
  { name: "large-bad-output", nodes: [node("a", "large-wrong"), node("b", "act", "a")] },
  { name: "bucket-down", nodes: [node("a", "large"), node("b", "act", "a")], bucketDownForMs: 4_000 },
  {
    name: "bucket-down-once",
    nodes: [node("a", "large-once"), node("b", "act", "a")],
    bucketDownForMs: 20_000,
    resolver: "truth",
  },
  {
    name: "bucket-down-looked-up",
    nodes: [node("a", "large-looked-up"), node("b", "act", "a")],
    bucketDownForMs: 320_000,
    resolver: "truth",
  },
  { name: "bucket-down-bad-output", nodes: [node("a", "large-wrong"), node("b", "act", "a")], bucketDownForMs: 20_000 },
  { name: "once", nodes: [node("a", "once"), node("b", "act", "a")], resolver: "truth" },
  { name: "once-two-minds", nodes: [node("a", "once"), node("b", "act", "a")], resolver: "two minds" },
  { name: "once-failed", nodes: [node("a", "once"), node("b", "act", "a")], resolver: "failed" },
  { name: "once-retries", nodes: [node("a", "once-retries")], resolver: "truth" },
  {
    name: "once-cancelled",
    nodes: [node("a", "once"), node("b", "once", "a")],
    resolver: "truth",
    commands: cancelAfter(100),
  },
  { name: "once-deadline", nodes: [node("a", "once"), node("b", "act", "a")], resolver: "truth", deadlineMs: 2_000 },
  { name: "looked-up", nodes: [node("a", "looked-up"), node("b", "looked-up", "a")], resolver: "truth" },
  { name: "looked-up-unsure", nodes: [node("a", "looked-up-unsure"), node("b", "act", "a")], resolver: "truth" },
  {
    name: "looked-up-cancelled",
    nodes: [node("a", "looked-up-unsure"), node("b", "act", "a")],
    resolver: "truth",
    commands: cancelAfter(150),
  },
  { name: "looked-up-deadline", nodes: [node("a", "looked-up-unsure")], resolver: "truth", deadlineMs: 2_000 },
  { name: "never-found", nodes: [node("a", "never-found"), node("b", "act", "a")], resolver: "truth" },
  { name: "short-key", nodes: [node("a", "short-key")], resolver: "truth" },
  { name: "steps", nodes: [node("a", "steps"), node("b", "act", "a")] },
  { name: "step-once", nodes: [node("a", "step-once"), node("b", "act", "a")], resolver: "failed" },
  { name: "step-then-fails", nodes: [node("a", "step-then-fails"), node("b", "act", "a")] },
  { name: "step-looked-up", nodes: [node("a", "step-looked-up")], resolver: "failed" },
  { name: "holds", nodes: [node("a", "holds"), node("b", "act", "a")] },
  { name: "refused-start", nodes: [node("a", "act", "b"), node("b", "act", "a")], refused: true },
  {
    name: "stray-messages",
    nodes: [node("a", "act")],
    strayMessages: ["no json", '{"run_id":"run"}', '{"run_id":"run","node_id":"z","dispatch_id":"d-0"}'],
  },
  { name: "cancel-early", nodes: [node("a", "act"), node("b", "act", "a")], commands: cancelAfter(40) },
  {
    name: "cancel-running",
    nodes: [node("a", "slow"), node("b", "act", "a"), node("c", "act")],
    commands: cancelAfter(5_000),
  },
  { name: "cancel-only-node", nodes: [node("a", "slow")], commands: cancelAfter(5_000) },
  {
    name: "cancel-join",
    nodes: [node("a", "act"), node("b", "slow"), node("c", "act", "a", "b")],
    commands: cancelAfter(300),
  },
  { name: "cancel-late", nodes: [node("a", "act")], commands: cancelAfter(100_000) },
  { name: "deadline-running", nodes: [node("a", "slow"), node("b", "act", "a"), node("c", "act")], deadlineMs: 50_000 },
  { name: "deadline-retrying", nodes: [node("a", "retries"), node("b", "act", "a")], deadlineMs: 1_500 },
  { name: "deadline-at-once", nodes: [node("a", "act"), node("b", "act", "a")], deadlineMs: 60 },
  {
    name: "undeployed-tool",
    nodes: [node("a", "act"), node("b", "read", "a"), node("c", "act", "b")],
    undeployed: ["read"],
    deadlineMs: 130_000,
  },
  {
    name: "unreadable-cancelled",
    nodes: [node("a", "act"), node("b", "act", "a")],
    unreadableForMs: 20_000,
    commands: cancelAfter(1_000),
  },
  { name: "unreadable", nodes: [node("a", "act"), node("b", "act", "a")], unreadableForMs: 20_000 },
  {
    name: "two-starts",
    nodes: [node("a", "act"), node("b", "act", "a")],
    commands: [
      {
        afterMs: 0,
        body: {
          type: "start_run",
          run_id: runId,
          command_id: "again",
          nodes: [node("a", "act"), node("b", "act", "a")],
        },
      },
      { afterMs: 20, body: { type: "start_run", run_id: runId, command_id: "other", nodes: [node("a", "act")] } },
    ],
  },
];

export const scenarioNamed = (name: string): Scenario => {
  const found = scenarios.find((scenario) => scenario.name === name);
  if (found === undefined)
    throw new Error(
      `scenario must be one of ${scenarios.map((scenario) => scenario.name).join(", ")}, got ${JSON.stringify(name)}`,
    );
  return found;
};
