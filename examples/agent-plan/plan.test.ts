/** The plan as a graph, under every crash; and what the model is told of a plan that is refused. */
import { readFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import type { AnyTool } from "../../shared/tool.ts";
import { crashAtEveryStep, simulate } from "../../testing/index.ts";
import { feedbackOn, type Harness, planned } from "./harness.ts";
import { type Plan, type PlannedRun, startOf } from "./plan.ts";
import type { Answer } from "./read-answer.ts";
import { tools } from "./tools.ts";

const planIn = async (file: string): Promise<Plan> =>
  JSON.parse(await readFile(new URL(`./plans/${file}.json`, import.meta.url), "utf8"));

const nodesOf = (plan: Plan) =>
  startOf({ run_id: "run", command_id: "command", plan }).nodes.map(({ node_id, tool, input, depends_on = [] }) => ({
    nodeId: node_id,
    tool,
    input,
    dependsOn: depends_on,
  }));

/** As they are, and noting under which operations a seat was booked. */
const notingBookings = (operations: Set<string>) =>
  tools.map((tool: AnyTool): AnyTool => {
    const execute: AnyTool["execute"] = (input, context) => {
      operations.add(context.operationId);
      return tool.execute(input, context);
    };
    return tool.name === "book-seat" ? { ...tool, execute } : tool;
  });

test("wherever a worker is killed, the plan books one seat and tells of that one", async () => {
  const nodes = nodesOf(await planIn("3-accepted"));
  let operations = new Set<string>();
  const fresh = () => {
    operations = new Set();
    return notingBookings(operations);
  };
  await crashAtEveryStep({ nodes, tools: fresh }, ({ status, nodes: { tell } }) => {
    expect(status).toBe("SUCCEEDED");
    const [operation = "", ...others] = operations;
    expect(others).toEqual([]);
    const text = `Ada takes Berlin-Paris 2 at 2026-05-04T12:00, booking B-${operation.slice(0, 8)}`;
    expect(tell?.output).toEqual({ text });
  });
});

test.each([
  ["1-unknown-tool", "unknown_tool"],
  ["2-wrong-argument", "bad_input"],
])("plan %s is refused as a whole: %s", async (file, code) => {
  await expect(simulate({ nodes: nodesOf(await planIn(file)), tools })).rejects.toThrow(code);
});

describe("a model that is told why", () => {
  const refused: Answer = {
    outcome: "refused",
    refusal: { code: "unknown_tool", node: "a", field: "tool", rule: "must be one of b", value: "c" },
  };

  /** It says an empty plan each time. */
  function told(...answers: readonly Answer[]) {
    const sent: PlannedRun[] = [];
    const harness: Harness = {
      model: async ({ length }) => ({ calls: [{ id: `call-${length}`, tool: "search", arguments: {} }] }),
      send: async (run) => void sent.push(run),
      answerTo: async () => answers[sent.length - 1] ?? refused,
    };
    return { sent, harness };
  }

  test("plans again under the same run and a command of its own", async () => {
    const { sent, harness } = told(refused, { outcome: "accepted" });
    const conversation = await planned("task", "goal", harness);
    expect(conversation).toEqual([
      "goal",
      expect.stringContaining("call-1"),
      expect.stringContaining("you wrote c"),
      expect.stringContaining("call-3"),
    ]);
    expect(sent.map(({ run_id }) => run_id)).toEqual(["task", "task"]);
    expect(new Set(sent.map(({ command_id }) => command_id)).size).toBe(2);
  });

  test("is asked again after a restart: the same plan is the same command, another one is not taken for it", async () => {
    const [first, again] = [told({ outcome: "accepted" }), told({ outcome: "accepted" })];
    await planned("task", "goal", first.harness);
    await planned("task", "goal", again.harness);
    expect(again.sent).toEqual(first.sent);
    const other = told({ outcome: "refused", refusal: { code: "run_id_taken", rule: "a run of this id exists" } });
    await expect(planned("task", "goal", other.harness)).rejects.toThrow("task task runs by another plan already");
    expect(other.sent).toHaveLength(1);
  });

  test("is asked five times at most", async () => {
    const { sent, harness } = told();
    await expect(planned("task", "goal", harness)).rejects.toThrow("none of 5 plans was accepted");
    expect(sent).toHaveLength(5);
  });

  test("hears of a fault of the whole plan, too", () => {
    const refusal = { code: "too_many_nodes", rule: "must fit one transaction" };
    expect(feedbackOn(refusal)).toBe(
      "The plan was refused (too_many_nodes), and nothing has been done. It must fit one transaction. Write the whole plan again.",
    );
  });
});
