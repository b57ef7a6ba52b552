import { noSuchRun } from "../client/errors.ts";
import { readArguments } from "./arguments.ts";
import { runTable } from "./picture.ts";
import { type CliCommand, type CliWorld, exitCodes, printJson, printLine } from "./world.ts";

async function run(args: readonly string[], world: CliWorld): Promise<number> {
  const given = readArguments(args, "RUN", { json: "boolean" });
  const found = await world.client.getRun(given.positional);
  if (found === undefined) throw noSuchRun(given.positional);
  if (given.given("json")) printJson(world.stdout, found);
  else for (const line of runTable(found)) printLine(world.stdout, line);
  return exitCodes.done;
}

export const status: CliCommand = {
  summary: "show a run and its nodes as they are now",
  help: `Usage: leasehold status RUN [--json]

  --json  print the run as one line of JSON
  --help  print this

Exit code: 0 whatever the run's status, 1 where there is no such run, 2 wrong usage.

Examples:
  leasehold status order-17
  leasehold status order-17 --json
`,
  run,
};
