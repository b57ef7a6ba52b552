import type { ReadStackOutputs } from "../shared/adapters/stack-outputs.ts";
import { clientError } from "./errors.ts";

/** Where a deployment's table and command queue are, and the bucket of its large outputs. */
export type Place = {
  readonly tableName: string;
  readonly commandsQueueUrl: string;
  /** Needed only by `getOutput`, for an output above 16 KiB. @default the stack's, or LEASEHOLD_VALUES_BUCKET beside the environment's table */
  readonly valuesBucket?: string;
};

/** Either the names, or how to find them. */
export type PlaceOptions =
  | (Place & { readonly stackName?: never })
  | {
      /** @default LEASEHOLD_STACK, else "Leasehold" */
      readonly stackName?: string;
      readonly tableName?: never;
      readonly commandsQueueUrl?: never;
      readonly valuesBucket?: string;
    };

type Found = Pick<Place, Names> & { readonly valuesBucket: string | undefined };
type Environment = { readonly [name: string]: string | undefined };

/**
 * What is given wins, then a stack that is given by name, then the environment, then the outputs of the default stack.
 * @throws ClientError `not_configured` that names what is missing and where it was looked for.
 */
export async function findPlace(
  options: PlaceOptions,
  environment: Environment,
  readOutputs: ReadStackOutputs,
): Promise<Place> {
  const { valuesBucket, ...found } = await findIt(options, environment, readOutputs);
  const bucket = options.valuesBucket || valuesBucket;
  return { ...found, ...(bucket ? { valuesBucket: bucket } : {}) };
}

async function findIt(options: PlaceOptions, environment: Environment, readOutputs: ReadStackOutputs): Promise<Found> {
  const given = bothOrNone("createClient", {
    tableName: options.tableName,
    commandsQueueUrl: options.commandsQueueUrl,
  });
  // The environment's bucket could be another deployment's.
  if (given !== undefined) return { ...given, valuesBucket: undefined };
  const stackGiven = options.stackName !== undefined;
  if (!stackGiven) {
    const set = bothOrNone("the environment", {
      tableName: environment.LEASEHOLD_TABLE,
      commandsQueueUrl: environment.LEASEHOLD_COMMANDS_QUEUE_URL,
    });
    if (set !== undefined) return { ...set, valuesBucket: environment.LEASEHOLD_VALUES_BUCKET };
  }
  const stackName = options.stackName ?? (environment.LEASEHOLD_STACK || "Leasehold");
  return fromStack(stackName, readOutputs);
}

type Names = "tableName" | "commandsQueueUrl";
const environmentNames = { tableName: "LEASEHOLD_TABLE", commandsQueueUrl: "LEASEHOLD_COMMANDS_QUEUE_URL" } as const;

/** One of the two alone is a slip that must not silently lead to another deployment's queue or table. */
function bothOrNone(source: string, found: { [Name in Names]: string | undefined }): Pick<Place, Names> | undefined {
  const { tableName, commandsQueueUrl } = found;
  if (tableName && commandsQueueUrl) return { tableName, commandsQueueUrl };
  if (!tableName && !commandsQueueUrl) return undefined;
  const missing = tableName ? "commandsQueueUrl" : "tableName";
  const present = tableName ? "tableName" : "commandsQueueUrl";
  const named = (name: Names) => (source === "createClient" ? name : environmentNames[name]);
  throw clientError(
    "not_configured",
    `${source}: ${named(missing)} must be set together with ${named(present)}, got nothing`,
  );
}

async function fromStack(stackName: string, readOutputs: ReadStackOutputs): Promise<Found> {
  let outputs: ReadonlyMap<string, string>;
  try {
    outputs = await readOutputs(stackName);
  } catch (cause) {
    if (!(cause instanceof Error) || !/does not exist/.test(cause.message)) throw cause;
    throw clientError(
      "not_configured",
      `there is no stack ${JSON.stringify(stackName)} in this account and region; deploy it, name another in LEASEHOLD_STACK, or set LEASEHOLD_TABLE and LEASEHOLD_COMMANDS_QUEUE_URL`,
      cause,
    );
  }
  const output = (name: string): string => {
    const value = outputs.get(name);
    if (value) return value;
    const seen = [...outputs.keys()].join(", ") || "none";
    throw clientError(
      "not_configured",
      `stack ${JSON.stringify(stackName)} must have the output ${name}, got ${seen}; is it a Leasehold stack?`,
    );
  };
  return {
    tableName: output("TableName"),
    commandsQueueUrl: output("CommandsQueueUrl"),
    valuesBucket: outputs.get("ValuesBucketName"),
  };
}
