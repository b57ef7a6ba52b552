/** All commands as one program of commander's. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Command, CommanderError } from "commander";
import { argumentsOf, readStrictly } from "./arguments.ts";
import { cancel } from "./cancel.ts";
import { doubts } from "./doubts.ts";
import { type Paint, paintFor, unpainted } from "./line.ts";
import { list } from "./list.ts";
import { projectRoot } from "./local/workspace.ts";
import { dev, local } from "./on-this-machine.ts";
import { outputs } from "./outputs.ts";
import { resolve } from "./resolve.ts";
import { status } from "./status.ts";
import { submit } from "./submit.ts";
import { tools } from "./tools.ts";
import { watch } from "./watch.ts";
import { type CliCommand, type CliWorld, exitCodes, type Output } from "./world.ts";
import { unknownCommand, wrongUsage } from "./wrong-usage.ts";

const commands: readonly CliCommand[] = [
  submit,
  status,
  watch,
  outputs,
  list,
  cancel,
  doubts,
  resolve,
  tools,
  dev,
  local,
];

/** @returns the exit code. @throws UsageError, and what the command itself throws. */
export async function runProgram(args: readonly string[], world: CliWorld): Promise<number> {
  let exitCode: number = exitCodes.done;
  const program = programOf(args, world, (code) => {
    exitCode = code;
  });
  try {
    await program.parseAsync(args, { from: "user" });
    return exitCode;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    // Help and version come as errors, too. Help that nobody asked for stands in for a command that is missing.
    return error.code === "commander.help" && args.length === 0 ? exitCodes.usage : exitCodes.done;
  }
}

function programOf(args: readonly string[], world: CliWorld, ended: (exitCode: number) => void): Command {
  const paint = paintFor(world.stdout, world.environment);
  const program = new Command("leasehold")
    .usage("COMMAND [options]")
    .description("Runs graphs of tool calls on SQS, Lambda and DynamoDB, and survives killed workers.")
    .version(versionOf(join(projectRoot, "package.json")), "-V, --version", "print the version")
    .helpOption("-h, --help", "print this")
    .helpCommand(false)
    // What stands behind a command's name is that command's own.
    .enablePositionalOptions()
    .configureOutput(outputsOf(world, paint))
    .configureHelp({
      subcommandTerm: (command) => command.name(),
      styleTitle: (title) => paint("bold", title),
    })
    .addHelpText("after", about);
  overrideExit(program);
  for (const { name, group, declare, run, endsItself } of commands) {
    const command = program.command(name).helpGroup(group).usage("");
    declare(command);
    command.usage(usageOf(command));
    readStrictly(command, args);
    overrideExit(command);
    command.action(async () => {
      const running = run(argumentsOf(command), world);
      const { signal } = world;
      ended(await (signal === undefined || endsItself ? running : Promise.race([running, whenAborted(signal)])));
    });
  }
  addHelp(program);
  return program;
}

/** Standard input or a silent socket may never end, and Ctrl-C must not wait for them. */
const whenAborted = (signal: AbortSignal): Promise<number> =>
  new Promise((resolve) => {
    const done = () => resolve(exitCodes.interrupted);
    if (signal.aborted) done();
    else signal.addEventListener("abort", done, { once: true });
  });

/** Commander would end the process. */
function overrideExit(command: Command): void {
  command.exitOverride((error) => {
    throw wrongUsage(command, error) ?? error;
  });
}

/** Commander's own answers an unknown name with the list of commands, as if nothing were wrong. */
function addHelp(program: Command): void {
  const help = program.command("help", { hidden: true }).argument("[COMMAND]");
  overrideExit(help);
  help.action((name: string | undefined) => {
    if (name === undefined) return program.help();
    const command = program.commands.find((each) => each.name() === name);
    if (command === undefined) throw unknownCommand(program, name, "");
    return command.help();
  });
}

/** Arguments first, as the examples have them. */
const usageOf = (command: Command): string =>
  [
    ...command.registeredArguments.map((argument) => (argument.required ? argument.name() : `[${argument.name()}]`)),
    "[options]",
  ].join(" ");

const WIDEST_HELP = 120;
const widthOf = ({ columns = 100 }: Output): number => Math.min(columns, WIDEST_HELP);

const outputsOf = (world: CliWorld, paint: Paint) => ({
  writeOut: (text: string) => void world.stdout.write(text),
  writeErr: (text: string) => void world.stderr.write(text),
  // What is wrong is told once, where all trouble is told.
  outputError: () => {},
  getOutHelpWidth: () => widthOf(world.stdout),
  getErrHelpWidth: () => widthOf(world.stderr),
  getOutHasColors: () => paint !== unpainted,
  getErrHasColors: () => false,
});

function versionOf(path: string): string {
  const content: unknown = JSON.parse(readFileSync(path, "utf8"));
  const version: unknown =
    typeof content === "object" && content !== null ? Reflect.get(content, "version") : undefined;
  return typeof version === "string" ? version : "unknown";
}

const about = `
Each command has --help, with examples, and --json where it prints an answer.

Exit codes:
  0    done; of a watch: the run has SUCCEEDED
  1    refused, failed, not found or no answer in time
  2    wrong usage: nothing was done
  130  ended by Ctrl-C; what was sent stays sent
  141  whoever read the output has gone

Table, queue and bucket are found in LEASEHOLD_TABLE, LEASEHOLD_COMMANDS_QUEUE_URL and LEASEHOLD_VALUES_BUCKET, else in the
outputs of the stack LEASEHOLD_STACK ("Leasehold"). Endpoint, region and credentials are those of the AWS SDK's environment.
NO_COLOR and FORCE_COLOR are heeded. DEBUG=1 shows where an error came from.`;
