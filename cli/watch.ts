import type { NodeView, RunView } from "../client/index.ts";
import { millisecondsOf, readArguments } from "./arguments.ts";
import { nodeLine, resolveHint, runLine } from "./picture.ts";
import { endRange } from "./waiting.ts";
import { type CliCommand, type CliWorld, exitCodes, printJson, printLine, waitOf } from "./world.ts";

const options = { timeout: "string", json: "boolean" } as const;

async function run(args: readonly string[], world: CliWorld): Promise<number> {
  const given = readArguments(args, "RUN", options);
  const timeoutMs = millisecondsOf("timeout", given.text("timeout"), endRange);
  const show = given.given("json") ? showJson : showLines;
  const end = await world.client.waitForRun(given.positional, {
    ...waitOf(world, timeoutMs),
    onChange: (now, before) => show(world, now, before),
  });
  return end.status === "SUCCEEDED" ? exitCodes.done : exitCodes.failed;
}

function showLines(world: CliWorld, now: RunView, before: RunView | undefined): void {
  const runChanged = now.status !== before?.status;
  // The run's own line comes first when the watch begins, and last when the run ends.
  if (runChanged && !now.ended) printLine(world.stdout, runLine(now));
  for (const node of changedNodes(now, before)) {
    printLine(world.stdout, nodeLine(node));
    // The run does not end before somebody acts on this, so the watch goes on and says how.
    if (node.doubt !== undefined) printLine(world.stdout, `  run waits: ${resolveHint(now.runId, node.nodeId)}`);
  }
  if (runChanged && now.ended) printLine(world.stdout, runLine(now));
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

export const watch: CliCommand = {
  summary: "print what changes in a run until it ends",
  help: `Usage: leasehold watch RUN [options]

  --timeout SECONDS  how long to watch (until the run ends)
  --json             print each change as one line of JSON: { "event": "run" | "node" | "end", … };
                     a node in doubt has a "doubt" with its epoch, and the run waits until it is resolved
  --help             print this

Exit code: 0 where the run ends SUCCEEDED, 1 where it ends otherwise, is unknown or time is up, 2 wrong usage.

Examples:
  leasehold watch order-17
  leasehold watch order-17 --json --timeout 600
`,
  run,
};
