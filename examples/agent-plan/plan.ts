/** What a model is asked for, and the message that it becomes. Nothing here is Leasehold's: docs/messages.md is all that it knows. */

/** A list of tool calls. An argument may be `{ "$output": id of another call, "pointer": "/part/of/its/output" }`. */
export type Plan = {
  readonly calls: readonly {
    readonly id: string;
    readonly tool: string;
    readonly arguments: { readonly [name: string]: unknown };
    /** Calls that must have succeeded before; those that the arguments name need not be told. */
    readonly after?: readonly string[];
  }[];
};

export type PlannedRun = {
  /** The same task is the same run, however often it is sent. */
  readonly run_id: string;
  /** What the answer stands under: one for each plan. */
  readonly command_id: string;
  readonly plan: Plan;
};

/** The body of a `start_run`. */
export const startOf = ({ run_id, command_id, plan }: PlannedRun) => ({
  type: "start_run",
  run_id,
  command_id,
  nodes: plan.calls.map(({ id, tool, arguments: input, after }) => ({
    node_id: id,
    tool,
    input,
    ...(after === undefined ? {} : { depends_on: after }),
  })),
});
