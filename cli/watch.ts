import type { NodeView, RunView } from "../client/index.ts";
import { type Arguments, millisecondsOf } from "./arguments.ts";
import { nodeLine, nodePieces, resolveHint, runPieces } from "./picture.ts";
import { endRange } from "./waiting.ts";
import { canRepaint, watchLive } from "./watch-live.ts";
import { type CliCommand, type CliWorld, exitCodes, printJson, printLines, waitOf } from "./world.ts";

async function run(given: Arguments, world: CliWorld): Promise<number> {
  const [runId = ""] = given.positionals;
  const wait = waitOf(world, millisecondsOf("timeout", given.text("timeout"), endRange));
  const isJson = given.given("json");
  const show = isJson ? showJson : showLines;
  const isLive = canRepaint(world) && !isJson && !given.given("plain");
  const end = isLive
    ? await watchLive(runId, wait, world)
    : await world.client.waitForRun(runId, { ...wait, onChange: (now, before) => show(world, now, before) });
  return end.status === "SUCCEEDED" ? exitCodes.done : exitCodes.failed;
}

function showLines(world: CliWorld, now: RunView, before: RunView | undefined): void {
  const runChanged = now.status !== before?.status;
  // The run's own line comes first when the watch begins, and last when the run ends.
  if (runChanged && !now.ended) printLines(world, [runPieces(now)]);
  for (const node of changedNodes(now, before)) {
    printLines(world, [nodePieces(node)]);
    // The run does not end before somebody acts on this, so the watch goes on and says how.
    if (node.doubt !== undefined) printLines(world, [`  run waits: ${resolveHint(now.runId, node.nodeId)}`]);
  }
  if (runChanged && now.ended) printLines(world, [runPieces(now)]);
}

function showJson(world: CliWorld, now: RunView, before: RunView | undefined): void {
  if (now.status !== before?.status && !now.ended) {
    printJson(world.stdout, { event: "run", runId: now.runId, status: now.status });
  }
  for (const node of changedNodes(now, before)) printJson(world.stdout, { event: "node", ...node });
  if (now.ended) printJson(world.stdout, { event: "end", run: now });
}

/** At first each node that has left its beginning, later each one that looks otherwise than before. */
function changedNodes(now: RunView, before: RunView | undefined): readonly NodeView[] {
  if (before === undefined) return now.nodes.filter((node) => node.status !== "PENDING");
  const old = new Map(before.nodes.map((node) => [node.nodeId, nodeLine(node)]));
  return now.nodes.filter((node) => old.get(node.nodeId) !== nodeLine(node));
}

const more = `
Exit code: 0 where the run ends SUCCEEDED, 1 where it ends otherwise, is unknown or time is up, 2 wrong usage.

Examples:
  leasehold watch order-17
  leasehold watch order-17 --plain | tee order-17.log
  leasehold watch order-17 --json --timeout 600`;

export const watch: CliCommand = {
  name: "watch",
  group: "Runs:",
  declare: (command) =>
    command
      .summary("show what changes in a run until it ends")
      .description(
        `Shows what changes in a run until it ends: on a terminal as a picture that is drawn over, else as one line for each change. A node in doubt holds its run until it is resolved, so the watch then says how.`,
      )
      .argument("<RUN>")
      .option("--plain", "print lines on a terminal, too")
      .option("--timeout <SECONDS>", "how long to watch (until the run ends)")
      .option("--json", 'print each change as one line of JSON: { "event": "run" | "node" | "end", … }')
      .addHelpText("after", more),
  run,
};
