import { clientError, noSuchRun } from "../client/errors.ts";
import type { Accepted, ResolveNodeRequest } from "../client/index.ts";
import { effectKnownSchema } from "../shared/model.ts";
import { type Arguments, millisecondsOf } from "./arguments.ts";
import { doubtText } from "./picture.ts";
import { shown, usageError } from "./usage.ts";
import { answerRange, defaultAnswerMs } from "./waiting.ts";
import { type CliCommand, type CliWorld, exitCodes, printJson, printLine, waitOf } from "./world.ts";

async function run(given: Arguments, world: CliWorld): Promise<number> {
  const [runId = "", nodeId = ""] = given.positionals;
  const timeoutMs = millisecondsOf("timeout", given.text("timeout"), answerRange) ?? defaultAnswerMs;
  const said = { ...resolutionOf(given), by: required(given, "by"), why: required(given, "why") };
  const isJson = given.given("json");
  const epoch = epochOf(given.text("epoch")) ?? (await epochInDoubt(world, runId, nodeId, isJson));
  const handle = await world.client.resolveNode(runId, nodeId, { ...said, epoch }, waitOf(world, undefined));
  const accepted = await handle.accepted(waitOf(world, timeoutMs));
  if (isJson) printJson(world.stdout, { outcome: "accepted", nodeId, epoch, ...accepted });
  else printLine(world.stdout, acceptedLine(nodeId, epoch, accepted));
  return exitCodes.done;
}

const acceptedLine = (nodeId: string, epoch: number, { runId, nodeStatus }: Accepted): string => {
  const now =
    nodeStatus === "READY"
      ? "is READY: it runs again, unless its run is cancelled or past its deadline"
      : `is ${nodeStatus ?? "resolved"}`;
  return `accepted: node ${nodeId} of run ${runId}, in doubt at epoch ${epoch}, ${now}`;
};

type Said = Pick<ResolveNodeRequest & { resolution: "not_done" }, "resolution"> | SaidSucceeded | SaidFailed;
type SaidSucceeded = { readonly resolution: "succeeded"; readonly output: unknown };
type SaidFailed = Pick<Extract<ResolveNodeRequest, { resolution: "failed" }>, "resolution" | "effect">;

function resolutionOf(given: Arguments): Said {
  const named = ["succeeded", "not-done", "failed"].filter((name) => given.given(name));
  const [name] = named;
  if (name === undefined || named.length > 1) {
    const got = named.map((each) => `--${each}`).join(" and ") || "none";
    throw usageError(`exactly one of --succeeded, --not-done, --failed must be given, got ${got}`);
  }
  onlyWith("output", "succeeded", given);
  onlyWith("effect", "failed", given);
  if (name === "succeeded") return { resolution: "succeeded", output: outputOf(required(given, "output")) };
  if (name === "not-done") return { resolution: "not_done" };
  const effect = given.text("effect");
  if (effect === undefined) return { resolution: "failed" };
  const known = effectKnownSchema.safeParse(effect);
  if (known.success) return { resolution: "failed", effect: known.data };
  throw usageError(`--effect must be one of ${effectKnownSchema.options.join(", ")}, got ${shown(effect)}`);
}

function onlyWith(name: string, other: string, given: Arguments): void {
  if (given.given(name) && !given.given(other)) throw usageError(`--${name} must be given with --${other} only`);
}

function required(given: Arguments, name: string): string {
  const text = given.text(name);
  if (text === undefined) throw usageError(`--${name} must be given, got nothing`);
  return text;
}

function outputOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw usageError(`--output must be JSON, a text in its quotes too, got ${shown(text)}`);
  }
}

function epochOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw usageError(`--epoch must be a whole number, got ${shown(text)}`);
}

/** The doubt of now, told before it is resolved: whoever means an earlier one can see that it is another. */
async function epochInDoubt(world: CliWorld, runId: string, nodeId: string, isJson: boolean): Promise<number> {
  const found = await world.client.getRun(runId);
  if (found === undefined) throw noSuchRun(runId);
  const node = found.nodes.find((each) => each.nodeId === nodeId);
  if (node?.doubt === undefined) {
    const got = node === undefined ? "no such node" : node.status;
    throw clientError(
      "not_in_doubt",
      `node ${JSON.stringify(nodeId)} of run ${JSON.stringify(runId)} must be in doubt, got ${got}`,
    );
  }
  if (!isJson) printLine(world.stdout, `${nodeId} is ${doubtText(node.doubt)}`);
  return node.doubt.epoch;
}

const more = `
Look outside first, by the operation id that the tool handed on: did the effect happen?

Exit code: 0 accepted, 1 refused, not in doubt or no answer, 2 wrong usage.

Examples:
  leasehold resolve order-17 buy --succeeded --output '{"code":"V-1"}' --by ada --why "it is in the shop's list"
  leasehold resolve order-17 buy --not-done --by ada --why "the shop has no such order"
  leasehold resolve order-17 buy --failed --effect none --by ada --why "the customer called" --epoch 3`;

export const resolve: CliCommand = {
  name: "resolve",
  group: "Doubts:",
  declare: (command) =>
    command
      .description("say what became of a node in doubt, so that its run goes on")
      .argument("<RUN>")
      .argument("<NODE>")
      .optionsGroup("What became of it (exactly one):")
      .option("--succeeded", "it happened; --output is what the tool would have returned, and must fit its schema")
      .option("--not-done", "it did not and never will: the node runs again with a fresh budget")
      .option("--failed", "end the node FAILED")
      .optionsGroup("Options:")
      .option("--output <JSON>", "with --succeeded; a text in its quotes too: --output '\"abc\"'")
      .option("--effect <KNOWN>", "with --failed, what is known of the effect: none, done or unknown (unknown)")
      .option("--by <WHO>", "who says so, kept with the node")
      .option("--why <TEXT>", "on what grounds, kept with the node")
      .option("--epoch <N>", "the epoch in doubt, as status shows it; any other is refused (the one in doubt now)")
      .option("--timeout <SECONDS>", "how long to wait for the answer (60)")
      .option("--json", "print the answer as one line of JSON")
      .addHelpText("after", more),
  run,
};
