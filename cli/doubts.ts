import { readArguments } from "./arguments.ts";
import { aligned, timeText } from "./picture.ts";
import { type CliCommand, type CliWorld, exitCodes, printJson, printLine } from "./world.ts";

async function run(args: readonly string[], world: CliWorld): Promise<number> {
  const given = readArguments(args, ["[RUN]"], { json: "boolean" });
  const [runId] = given.positionals;
  const doubts = await world.client.listDoubts(runId === undefined ? {} : { runId });
  if (given.given("json")) {
    for (const doubt of doubts) printJson(world.stdout, doubt);
    return exitCodes.done;
  }
  if (doubts.length === 0) {
    printLine(world.stdout, runId === undefined ? "no node is in doubt" : `no node of run ${runId} is in doubt`);
    return exitCodes.done;
  }
  const rows = doubts.map((doubt) => [
    doubt.runId,
    doubt.nodeId,
    doubt.tool,
    timeText(doubt.sinceMs),
    String(doubt.attempt),
    String(doubt.epoch),
    doubt.why,
  ]);
  const table = aligned([["RUN", "NODE", "TOOL", "SINCE", "ATTEMPT", "EPOCH", "WHY"], ...rows]);
  for (const line of table) printLine(world.stdout, line);
  printLine(world.stdout, "");
  printLine(world.stdout, "leasehold resolve RUN NODE says what became of one; --help shows how");
  return exitCodes.done;
}

export const doubts: CliCommand = {
  summary: "list the nodes whose effect nobody knows, which hold their runs until they are resolved",
  help: `Usage: leasehold doubts [RUN] [--json]

Without RUN the doubts of all living runs are listed, the oldest first; that reads each living run once.

  --json  print each doubt as one line of JSON
  --help  print this

Exit code: 0 whether there are any or not, 1 where there is no such run, 2 wrong usage.

Examples:
  leasehold doubts
  leasehold doubts order-17 --json
`,
  run,
};
