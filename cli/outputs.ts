import { noSuchRun } from "../client/errors.ts";
import type { NodeView } from "../client/index.ts";
import type { Arguments } from "./arguments.ts";
import { harmlessJson } from "./line.ts";
import { type CliCommand, type CliWorld, exitCodes, printJson, signalOf } from "./world.ts";

async function run(given: Arguments, world: CliWorld): Promise<number> {
  const [runId = "", nodeId] = given.positionals;
  if (nodeId === undefined) return printAll(runId, world);
  const output = await world.client.getOutput(runId, nodeId, signalOf(world));
  if (given.given("json")) printJson(world.stdout, output);
  else world.stdout.write(`${harmlessJson(JSON.stringify(output, null, 2))}\n`);
  return exitCodes.done;
}

/** One after another: a large one is printed, and gone from memory, before the next is fetched. */
async function printAll(runId: string, world: CliWorld): Promise<number> {
  const found = await world.client.getRun(runId);
  if (found === undefined) throw noSuchRun(runId);
  for (const node of found.nodes) {
    if (node.status !== "SUCCEEDED") continue;
    printJson(world.stdout, { nodeId: node.nodeId, output: await outputOf(runId, node, world) });
  }
  return exitCodes.done;
}

/** What came along with the run need not be fetched a second time. */
const outputOf = async (runId: string, node: NodeView, world: CliWorld): Promise<unknown> =>
  node.outputBeside === true ? world.client.getOutput(runId, node.nodeId, signalOf(world)) : node.output;

const more = `
Large outputs stand in S3: to read them, LEASEHOLD_VALUES_BUCKET or the stack's outputs must name the bucket.

Exit code: 0 printed, 1 where there is no such run or node, or the node has no output, 2 wrong usage.

Examples:
  leasehold outputs order-17
  leasehold outputs order-17 buy
  leasehold outputs order-17 buy --json | jq .code`;

export const outputs: CliCommand = {
  name: "outputs",
  group: "Runs:",
  declare: (command) =>
    command
      .summary("print what a run's nodes have returned, or one node's output")
      .description(
        'Prints what a run\'s nodes have returned: each node that has succeeded as one line of JSON, { "nodeId", "output" }. With NODE, that node\'s output alone, as JSON over several lines.',
      )
      .argument("<RUN>")
      .argument("[NODE]")
      .option("--json", "print NODE's output as one line of JSON")
      .addHelpText("after", more),
  run,
};
