/** The commands that need no AWS account. Each loads what it needs when it is called: the others are not to wait for it. */
import { Option } from "commander";
import type { Arguments } from "./arguments.ts";
import { shown, usageError } from "./usage.ts";
import type { CliCommand, CliWorld } from "./world.ts";

async function develop(given: Arguments, world: CliWorld): Promise<number> {
  const [tools = "", graph] = given.positionals;
  const { runDev } = await import("./dev/dev.ts");
  const options = { tools, once: given.given("once"), kill: given.given("kill"), json: given.given("json") };
  const defaultTool = given.text("default-tool");
  return runDev(
    {
      ...options,
      ...(graph === undefined ? {} : { graph }),
      ...(defaultTool === undefined ? {} : { defaultTool }),
    },
    world,
  );
}

const moreOfDev = `
TOOLS is a module that exports \`tools\`; GRAPH is a file as submit takes it. Without GRAPH the names of such files are read from
standard input, one a line, and Enter alone runs the last one again. Nothing is kept once the program ends.

Exit code: 0 where what has been run has SUCCEEDED, 1 where it has not, 2 wrong usage, 130 ended by Ctrl-C.

Examples:
  leasehold dev tools.ts graph.json
  leasehold dev tools.ts graph.json --once --json
  leasehold dev tools.ts graph.json --kill`;

export const dev: CliCommand = {
  name: "dev",
  group: "On this machine:",
  endsItself: true,
  declare: (command) =>
    command
      .description("run graphs in memory with your tools, again at each change of a file; no AWS, no Python")
      .argument("<TOOLS>")
      .argument("[GRAPH]")
      .option("--default-tool <NAME>", "the tool of nodes that name none")
      .option("--once", "end after one run of GRAPH, or without it once TOOLS are loaded")
      .option("--kill", "let each node's first worker die after its tool has acted, and show what follows")
      .option("--json", "print each change as one line of JSON")
      .addHelpText("after", moreOfDev),
  run: develop,
};

async function runLocally(given: Arguments, world: CliWorld): Promise<number> {
  const [tools, app] = [given.text("tools"), given.text("app")];
  if (tools !== undefined && app !== undefined) {
    throw usageError(`--tools must not stand beside --app, whose own code names its tools, got ${shown(app)}`);
  }
  const context = contextOf(given.texts("context"));
  const { runLocal } = await import("./local/local.ts");
  const options = { ...(tools === undefined ? {} : { tools }), ...(app === undefined ? {} : { app }), context };
  return runLocal(options, world);
}

/** Of the same name the last one counts, as it does for the CDK. */
function contextOf(pairs: readonly string[]): Readonly<Record<string, string>> {
  const entries = pairs.map((pair): [string, string] => {
    const at = pair.indexOf("=");
    if (at < 1) throw usageError(`--context must be NAME=VALUE, got ${shown(pair)}`);
    return [pair.slice(0, at), pair.slice(at + 1)];
  });
  return Object.fromEntries(entries);
}

const moreOfLocal = `
Starts MiniStack, which needs Python 3.10 or later, or uses the local AWS at AWS_ENDPOINT_URL. With --tools the package's own
stack is deployed with that module's tools, else the CDK app of this folder. What other commands need to find it is printed,
and written to .leasehold/local.env.

Exit code: 0 ended by Ctrl-C, or deployed where AWS_ENDPOINT_URL is set; 1 it could not be started or deployed, 2 wrong usage.

Examples:
  leasehold local --tools tools.ts
  leasehold local --app "npx tsx bin/app.ts"
  leasehold local -c namespace=shop -c 'limits={"leaseMs":3000}'`;

export const local: CliCommand = {
  name: "local",
  group: "On this machine:",
  endsItself: true,
  declare: (command) =>
    command
      .description("start a local AWS and deploy to it, until Ctrl-C; no AWS account, no Docker")
      .option("--tools <FILE>", "a module that exports `tools`")
      .option("--app <COMMAND>", "what makes the CDK app (that of cdk.json)")
      .addOption(
        new Option("-c, --context <NAME=VALUE>", "a context value for the CDK app, any number of times").default(
          [],
          "none",
        ),
      )
      .addHelpText("after", moreOfLocal),
  run: runLocally,
};
