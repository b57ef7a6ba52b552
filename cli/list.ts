import type { RunSummary } from "../client/index.ts";
import { type Arguments, wholeNumberOf } from "./arguments.ts";
import { durationText } from "./duration.ts";
import { aligned, type Line, type Piece } from "./line.ts";
import { statusPiece } from "./picture.ts";
import {
  type CliCommand,
  type CliWorld,
  exitCodes,
  nowOf,
  printJson,
  printLine,
  printLines,
  signalOf,
} from "./world.ts";

const limitRange = { least: 1, most: 1_000 } as const;
const DEFAULT_LIMIT = 100;

async function run(given: Arguments, world: CliWorld): Promise<number> {
  const limit = wholeNumberOf("limit", given.text("limit"), limitRange) ?? DEFAULT_LIMIT;
  const isJson = given.given("json");
  const found: RunSummary[] = [];
  let cursor: string | undefined;
  do {
    const page = await world.client.listRuns({
      limit,
      ...(cursor === undefined ? {} : { cursor }),
      ...signalOf(world),
    });
    if (isJson) for (const each of page.runs) printJson(world.stdout, each);
    found.push(...page.runs);
    cursor = page.cursor;
  } while (cursor !== undefined && given.given("all"));
  if (!isJson) printLines(world, tableOf(found, nowOf(world)));
  // Not among the answers, which a program may read.
  if (cursor !== undefined) printLine(world.stderr, `there are more than these ${found.length}; --all lists all`);
  return exitCodes.done;
}

function tableOf(runs: readonly RunSummary[], nowMs: number): readonly Line[] {
  if (runs.length === 0) return ["no run is living"];
  const rows = runs.map((each): readonly (string | Piece)[] => [
    each.runId,
    statusPiece(each.status),
    String(each.nodeCount),
    durationText(nowMs - each.createdAtMs),
    each.deadlineAtMs > nowMs ? `in ${durationText(each.deadlineAtMs - nowMs)}` : "passed",
  ]);
  return aligned([["RUN", "STATUS", "NODES", "AGE", "DEADLINE"], ...rows]);
}

const more = `
What it costs: about one read unit for each run that is listed, and for each of the index's 16 shards that a page touches one
for some 80 living runs. The index may be a moment behind, so a run of just now may be missing.

Exit code: 0 whether there are any or not, 1 no answer, 2 wrong usage.

Examples:
  leasehold list
  leasehold list --limit 1000 --all
  leasehold list --json | jq -r .runId`;

export const list: CliCommand = {
  name: "list",
  group: "Runs:",
  declare: (command) =>
    command
      .description("list the living runs; those that have ended are found by their id only")
      .option("--limit <N>", "how many at most, 1 to 1000 (100); with --all, how many are read at once")
      .option("--all", "list all living runs")
      .option("--json", "print each run as one line of JSON")
      .addHelpText("after", more),
  run,
};
