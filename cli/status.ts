import { noSuchRun } from "../client/errors.ts";
import type { Arguments } from "./arguments.ts";
import { runTable } from "./picture.ts";
import { type CliCommand, type CliWorld, exitCodes, printJson, printLines } from "./world.ts";

async function run(given: Arguments, world: CliWorld): Promise<number> {
  const [runId = ""] = given.positionals;
  const found = await world.client.getRun(runId);
  if (found === undefined) throw noSuchRun(runId);
  if (given.given("json")) printJson(world.stdout, found);
  else printLines(world, runTable(found));
  return exitCodes.done;
}

const more = `
Exit code: 0 whatever the run's status, 1 where there is no such run, 2 wrong usage.

Examples:
  leasehold status order-17
  leasehold status order-17 --json`;

export const status: CliCommand = {
  name: "status",
  group: "Runs:",
  declare: (command) =>
    command
      .description("show a run and its nodes as they are now")
      .argument("<RUN>")
      .option("--json", "print the run as one line of JSON")
      .addHelpText("after", more),
  run,
};
