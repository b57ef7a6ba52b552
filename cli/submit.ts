import { fixed } from "../shared/limits.ts";
import { type Arguments, millisecondsOf } from "./arguments.ts";
import { readGraphFile } from "./graph-file.ts";
import { answerRange, defaultAnswerMs } from "./waiting.ts";
import { type CliCommand, type CliWorld, exitCodes, printJson, printLine, waitOf } from "./world.ts";

async function run(given: Arguments, world: CliWorld): Promise<number> {
  const [file = ""] = given.positionals;
  const timeoutMs = millisecondsOf("timeout", given.text("timeout"), answerRange) ?? defaultAnswerMs;
  const deadlineRange = { leastMs: 1, mostMs: fixed.runDeadlineMs };
  const deadlineMs = millisecondsOf("deadline", given.text("deadline"), deadlineRange);
  const runId = given.text("run-id");
  const graph = await readGraphFile(file, given.text("default-tool"), world.readInput);
  const request = {
    ...graph,
    ...(runId === undefined ? {} : { runId }),
    ...(deadlineMs === undefined ? {} : { deadlineMs }),
  };
  const handle = await world.client.startRun(request, waitOf(world, undefined));
  const accepted = await handle.accepted(waitOf(world, timeoutMs));
  if (given.given("json")) {
    printJson(world.stdout, { outcome: "accepted", ...accepted });
    return exitCodes.done;
  }
  const nodes = `${graph.nodes.length} ${graph.nodes.length === 1 ? "node" : "nodes"}`;
  const now = accepted.runStatus === undefined ? "" : `, ${accepted.runStatus}`;
  const before = accepted.changed ? "" : " (it was there already)";
  printLine(world.stdout, `accepted: run ${accepted.runId}, ${nodes}${now}${before}`);
  return exitCodes.done;
}

const more = `
Exit code: 0 accepted, 1 refused or no answer, 2 wrong usage.

Examples:
  leasehold submit order.json --run-id order-17
  leasehold submit test/graphs/helloworld-chain-5-chameleon.json --default-tool noop
  echo '{"nodes":[{"node_id":"a","tool":"noop"}]}' | leasehold submit - --json`;

export const submit: CliCommand = {
  name: "submit",
  group: "Runs:",
  declare: (command) =>
    command
      .summary("start a run from a graph file and wait until it is accepted or refused")
      .description(
        `Starts a run from a graph file and waits until it is accepted or refused.

FILE holds { "nodes": [{ "node_id", "tool", "input", "depends_on" }], "run_id"?, "deadline_ms"? }; - reads standard input. Other fields at the top are ignored. The same run id and content make one run.`,
      )
      .argument("<FILE>")
      .option("--run-id <ID>", "the run's id, before the file's own; without either a fresh one is made")
      .option("--default-tool <NAME>", "the tool of nodes that name none")
      .option("--deadline <SECONDS>", "how long the run may take")
      .option("--timeout <SECONDS>", "how long to wait for the answer (60)")
      .option("--json", "print the answer as one line of JSON")
      .addHelpText("after", more),
  run,
};
