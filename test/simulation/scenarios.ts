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
