import { inspect } from "node:util";
import { isRefused, type RefusedError } from "../client/errors.ts";
import { runProgram } from "./program.ts";
import { troubleOf } from "./trouble.ts";
import { type CliWorld, exitCodes, printJson, printLine } from "./world.ts";

/** The whole program but for its process. Never throws; resolves with the exit code. */
export async function runCli(args: readonly string[], world: CliWorld): Promise<number> {
  try {
    return await runProgram(args, world);
  } catch (error) {
    if (world.signal?.aborted) return exitCodes.interrupted;
    return report(error, optionsOf(args).includes("--json"), world);
  }
}

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
