import type { Arguments } from "./arguments.ts";
import { aligned, type Piece } from "./line.ts";
import { inDoubt, timeText } from "./picture.ts";
import { type CliCommand, type CliWorld, exitCodes, printJson, printLine, printLines } from "./world.ts";

async function run(given: Arguments, world: CliWorld): Promise<number> {
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
  const rows = doubts.map((doubt): readonly (string | Piece)[] => [
    doubt.runId,
    inDoubt(doubt.nodeId),
    doubt.tool,
    timeText(doubt.sinceMs),
    String(doubt.attempt),
    String(doubt.epoch),
    doubt.why,
  ]);
  const table = aligned([["RUN", "NODE", "TOOL", "SINCE", "ATTEMPT", "EPOCH", "WHY"], ...rows]);
  printLines(world, [...table, "", "leasehold resolve RUN NODE says what became of one; --help shows how"]);
  return exitCodes.done;
}

const more = `
Exit code: 0 whether there are any or not, 1 where there is no such run, 2 wrong usage.

Examples:
  leasehold doubts
  leasehold doubts order-17 --json`;

export const doubts: CliCommand = {
  name: "doubts",
  group: "Doubts:",
  declare: (command) =>
    command
      .summary("list the nodes whose effect nobody knows, which hold their runs until they are resolved")
      .description(
        "Lists the nodes whose effect nobody knows, which hold their runs until they are resolved. Without RUN the doubts of all living runs are listed, the oldest first; that reads each living run once.",
      )
      .argument("[RUN]")
      .option("--json", "print each doubt as one line of JSON")
      .addHelpText("after", more),
  run,
};
