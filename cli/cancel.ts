import { type Arguments, millisecondsOf } from "./arguments.ts";
import { answerRange, defaultAnswerMs } from "./waiting.ts";
import { type CliCommand, type CliWorld, exitCodes, printJson, printLine, waitOf } from "./world.ts";

async function run(given: Arguments, world: CliWorld): Promise<number> {
  const [runId = ""] = given.positionals;
  const timeoutMs = millisecondsOf("timeout", given.text("timeout"), answerRange) ?? defaultAnswerMs;
  const reason = given.text("reason");
  const handle = await world.client.cancelRun(runId, {
    ...waitOf(world, undefined),
    ...(reason === undefined ? {} : { reason }),
  });
  const accepted = await handle.accepted(waitOf(world, timeoutMs));
  if (given.given("json")) {
    printJson(world.stdout, { outcome: "accepted", ...accepted });
    return exitCodes.done;
  }
  const status = accepted.runStatus ?? "CANCELLING";
  printLine(
    world.stdout,
    accepted.changed
      ? `accepted: run ${accepted.runId} is ${status}; nothing new starts, what runs is told`
      : `nothing to cancel: run ${accepted.runId} was ${status} already`,
  );
  return exitCodes.done;
}

const more = `
Exit code: 0 where the run is or was over or is being cancelled, 1 refused or no answer, 2 wrong usage.

Examples:
  leasehold cancel order-17 --reason "the customer called"
  leasehold cancel order-17 --json`;

export const cancel: CliCommand = {
  name: "cancel",
  group: "Runs:",
  declare: (command) =>
    command
      .description("cancel a run: nothing new starts, and what runs is told")
      .argument("<RUN>")
      .option("--reason <TEXT>", "why, kept with the run (at most 256 characters)")
      .option("--timeout <SECONDS>", "how long to wait for the answer (60)")
      .option("--json", "print the answer as one line of JSON")
      .addHelpText("after", more),
  run,
};
