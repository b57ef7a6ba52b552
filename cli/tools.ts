import { type ListedTool, listedTool } from "../shared/listed-tool.ts";
import type { Arguments } from "./arguments.ts";
import { deployedTools } from "./deployed-tools.ts";
import { durationText } from "./duration.ts";
import { aligned, type Line } from "./line.ts";
import { type CliCommand, type CliWorld, exitCodes, printJson, printLines } from "./world.ts";

async function run(given: Arguments, world: CliWorld): Promise<number> {
  const [file] = given.positionals;
  const lists = file === undefined ? await deployed(world) : [await toolsOf(file)];
  if (given.given("json")) for (const tool of lists.flat()) printJson(world.stdout, tool);
  else
    printLines(
      world,
      lists.flatMap((tools, place) => [...(place === 0 ? [] : [""]), ...tableOf(tools)]),
    );
  return exitCodes.done;
}

const deployed = ({ environment, readTemplate, signal }: CliWorld) =>
  deployedTools(environment.LEASEHOLD_STACK || "Leasehold", readTemplate, signal);

async function toolsOf(file: string): Promise<readonly ListedTool[]> {
  // The bundler is loaded only where somebody has a module to be bundled.
  const { loadTools } = await import("./load-tools.ts");
  return (await loadTools(file)).tools.map(listedTool);
}

const tableOf = (tools: readonly ListedTool[]): readonly Line[] =>
  aligned([
    ["TOOL", "EFFECT", "POOL", "TIMEOUT", "ATTEMPTS", "LEASE"],
    ...tools.map(({ name, effect, pool, timeoutMs, attempts, lease }) => [
      name,
      effect,
      pool ?? "-",
      timeoutMs === undefined ? "-" : timeoutText(timeoutMs),
      String(attempts ?? "-"),
      lease ?? "-",
    ]),
  ]);

/** To the millisecond where it is no whole number of seconds: somebody has chosen it. */
const timeoutText = (ms: number): string => (ms % 1_000 === 0 ? durationText(ms) : `${ms / 1_000} s`);

const more = `
FILE is a module that exports \`tools\`, in TypeScript or JavaScript. Without it the deployed stack's tools are shown: they stand
in the template of the stack LEASEHOLD_STACK ("Leasehold"), which is read with cloudformation:GetTemplate.
- stands for the deployment's default.

Exit code: 0 shown, 1 where there is no such stack or it cannot be read, 2 wrong usage.

Examples:
  leasehold tools
  leasehold tools functions/tools/index.ts
  LEASEHOLD_STACK=Shop leasehold tools --json`;

export const tools: CliCommand = {
  name: "tools",
  group: "Tools:",
  declare: (command) =>
    command
      .description("show the tools of a module, or those that are deployed")
      .argument("[FILE]")
      .option("--json", "print each tool as one line of JSON")
      .addHelpText("after", more),
  run,
};
