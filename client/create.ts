import { systemChance } from "../shared/adapters/chance.ts";
import { systemClock } from "../shared/adapters/clock.ts";
import { commandQueue, commandQueueClient, type SendCommand } from "../shared/adapters/command-queue.ts";
import { dynamoClient } from "../shared/adapters/dynamo-client.ts";
import { dynamoTable } from "../shared/adapters/dynamo-table.ts";
import type { ReadStackOutputs } from "../shared/adapters/stack-outputs.ts";
import type { Where } from "../shared/adapters/wire-times.ts";
import { onceSucceeded } from "../shared/once-succeeded.ts";
import type { Blobs } from "../shared/ports.ts";
import { type Client, clientOver, noValuesBucket } from "./client.ts";
import { anything, checkMembers, endpointUrl, invalidOption, text } from "./given.ts";
import { findPlace, type PlaceOptions } from "./place.ts";
import type { ReadableTable } from "./read-run.ts";

/** How AWS is reached; what is left out comes from the SDK's standard environment. */
export type ReachOptions = {
  /** A URL, for a local AWS. */
  readonly endpoint?: string;
  readonly region?: string;
  readonly credentials?: NonNullable<Where["credentials"]>;
};

export type ClientOptions = PlaceOptions & ReachOptions;

const rules = {
  stackName: text,
  tableName: text,
  commandsQueueUrl: text,
  valuesBucket: text,
  endpoint: endpointUrl,
  region: text,
  credentials: anything,
};

/**
 * A client of one deployment. Table and queue are looked for at the first call, so a wrong place shows there and not here.
 * @throws ClientError `invalid_option` for an option that could never be right.
 */
export function createClient(options: ClientOptions = {}): Client {
  checkMembers("createClient", options, rules);
  const { endpoint, region, credentials, ...place } = options;
  if (place.stackName !== undefined && (place.tableName ?? place.commandsQueueUrl) !== undefined) {
    throw invalidOption(
      "createClient",
      "stackName",
      "must not stand beside tableName or commandsQueueUrl",
      place.stackName,
    );
  }
  const where: Where = {
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(region === undefined ? {} : { region }),
    ...(credentials === undefined ? {} : { credentials }),
  };
  // What was not found may have been deployed by the next call.
  const connected = onceSucceeded(() => connect(place, where));
  const table: ReadableTable = {
    get: async (key) => (await connected()).table.get(key),
    query: async (pk, skPrefix) => (await connected()).table.query(pk, skPrefix),
    dueRuns: async (shard, dueAtMs, limit) => (await connected()).table.dueRuns(shard, dueAtMs, limit),
  };
  const send: SendCommand = async (body, signal) => (await connected()).send(body, signal);
  const objects = onceSucceeded(async () => connectBlobs((await connected()).valuesBucket, where));
  const blobs = { get: async (key: string) => (await objects()).get(key) };
  return clientOver({ table, send, blobs, clock: systemClock, newId: systemChance.id });
}

type Connected = {
  readonly table: ReadableTable;
  readonly send: SendCommand;
  readonly valuesBucket: string | undefined;
};

async function connect(options: PlaceOptions, where: Where): Promise<Connected> {
  // Loaded only where a stack must be asked, as few programs do.
  const readOutputs: ReadStackOutputs = async (stackName) =>
    (await import("../shared/adapters/stack-outputs.ts")).stackOutputs(where)(stackName);
  const { tableName, commandsQueueUrl, valuesBucket } = await findPlace(options, process.env, readOutputs);
  return {
    table: dynamoTable({ client: dynamoClient(where), tableName }),
    send: commandQueue({ client: commandQueueClient(where), queueUrl: commandsQueueUrl }),
    valuesBucket,
  };
}

/** The S3 client is half as large again as all the rest, and most programs never meet an output that needs it. */
async function connectBlobs(bucket: string | undefined, where: Where): Promise<Pick<Blobs, "get">> {
  if (bucket === undefined) throw noValuesBucket();
  const [{ s3Blobs }, { s3Client }] = await Promise.all([
    import("../shared/adapters/s3-blobs.ts"),
    import("../shared/adapters/s3-client.ts"),
  ]);
  return s3Blobs({ client: s3Client(where), bucket });
}
