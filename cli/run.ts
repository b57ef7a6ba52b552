import { inspect } from "node:util";
import { isRefused, type RefusedError } from "../client/index.ts";
import { cancel } from "./cancel.ts";
import { doubts } from "./doubts.ts";
import { resolve } from "./resolve.ts";
import { status } from "./status.ts";
import { submit } from "./submit.ts";
import { troubleOf } from "./trouble.ts";
import { shown, usageError } from "./usage.ts";
import { watch } from "./watch.ts";
import { type CliCommand, type CliWorld, exitCodes, printJson, printLine } from "./world.ts";

const commands: ReadonlyMap<string, CliCommand> = new Map(
  Object.entries({ submit, status, watch, cancel, doubts, resolve }),
);

/** The whole program but for its process. Never throws; resolves with the exit code. */
export async function runCli(args: readonly string[], world: CliWorld): Promise<number> {
  try {
    return await Promise.race([
      dispatch(args, world),
      ...(world.signal === undefined ? [] : [whenAborted(world.signal)]),
    ]);
  } catch (error) {
    if (world.signal?.aborted) return exitCodes.interrupted;
    return report(error, optionsOf(args).includes("--json"), world);
  }
}

/** Standard input or a silent socket may never end, and Ctrl-C must not wait for them. */
const whenAborted = (signal: AbortSignal): Promise<number> =>
  new Promise((resolve) => {
    const done = () => resolve(exitCodes.interrupted);
    if (signal.aborted) done();
    else signal.addEventListener("abort", done, { once: true });
  });

async function dispatch(args: readonly string[], world: CliWorld): Promise<number> {
  const [name, ...rest] = args;
  if (name === undefined) {
    world.stderr.write(overview);
    return exitCodes.usage;
  }
  if (isHelp(name) || name === "help") {
    world.stdout.write(commands.get(rest[0] ?? "")?.help ?? overview);
    return exitCodes.done;
  }
  const command = commands.get(name);
  if (command === undefined) {
    throw usageError(`command must be one of ${[...commands.keys()].join(", ")}, got ${shown(name)}`);
  }
  if (optionsOf(rest).some(isHelp)) {
    world.stdout.write(command.help);
    return exitCodes.done;
  }
  return command.run(rest, world);
}

const isHelp = (arg: string): boolean => arg === "--help" || arg === "-h";

/** What stands before `--`; behind it everything is an argument. */
function optionsOf(args: readonly string[]): readonly string[] {
  const end = args.indexOf("--");
  return end === -1 ? args : args.slice(0, end);
}

/** A refusal is an answer, so programs find it where answers are; all other trouble goes to stderr. */
function report(error: unknown, json: boolean, world: CliWorld): number {
  if (isRefused(error)) {
    if (json) printJson(world.stdout, { outcome: "refused", ...refusalOf(error) });
    else for (const line of refusalLines(error)) printLine(world.stderr, line);
    return exitCodes.failed;
  }
  const { code, message, exitCode } = troubleOf(error, world.environment);
  if (json) printJson(world.stderr, { error: { code, message } });
  else printLine(world.stderr, `leasehold: ${message}`);
  if (exitCode === exitCodes.usage && !json) printLine(world.stderr, "leasehold: --help shows how it is used");
  if (world.environment.DEBUG) world.stderr.write(`${inspect(error)}\n`);
  return exitCode;
}

const refusalOf = ({ runId, commandId, code, node, field, rule, value }: RefusedError) => ({
  runId,
  commandId,
  code,
  node,
  field,
  rule,
  value,
});

function refusalLines(error: RefusedError): readonly string[] {
  const { runId, code, node, field, rule, value } = error;
  const told = Object.entries({ node, field, rule, value });
  return [
    `refused: run ${runId}: ${code}`,
    ...told.flatMap(([name, text]) => (text === undefined ? [] : [`  ${`${name}:`.padEnd(6)} ${text}`])),
  ];
}

const overview = `Usage: leasehold COMMAND [options]

${[...commands].map(([name, { summary }]) => `  ${name.padEnd(8)}${summary}`).join("\n")}

Each command has --help, with examples, and --json.

Table and queue are found in LEASEHOLD_TABLE and LEASEHOLD_COMMANDS_QUEUE_URL, else in the outputs of the stack
LEASEHOLD_STACK ("Leasehold"). Endpoint, region and credentials are those of the AWS SDK's environment. DEBUG=1 shows
where an error came from.
`;
