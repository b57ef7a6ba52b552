/** `npm run bench:faults`: the voucher job under the same kills, as plain handlers, with Powertools, and with Leasehold. */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { deploy } from "../../../cli/local/deploy.ts";
import { localRegion } from "../../../cli/local/local-env.ts";
import { startMinistack } from "../../../cli/local/ministack.ts";
import { projectRoot, workspace } from "../../../cli/local/workspace.ts";
import { clientOver } from "../../../client/client.ts";
import { systemChance } from "../../../shared/adapters/chance.ts";
import { systemClock } from "../../../shared/adapters/clock.ts";
import { commandQueue, commandQueueClient } from "../../../shared/adapters/command-queue.ts";
import { dynamoClient } from "../../../shared/adapters/dynamo-client.ts";
import { dynamoTable } from "../../../shared/adapters/dynamo-table.ts";
import { sqsClient } from "../../../shared/adapters/sqs-client.ts";
import { type Provider, startProvider } from "../../support/provider.ts";
import { type Gate, openGate } from "./gate.ts";
import { type Measured, measure } from "./measure.ts";
import { leasehold, peer, type Subject } from "./subject.ts";
import { markdown } from "./table.ts";
import { classes, killPoints, peers, stackOf } from "./variants.ts";

const say = (line: string): void => void process.stderr.write(`${line}\n`);

async function subjectsOn(endpoint: string, provider: Provider, gate: Gate): Promise<readonly Subject[]> {
  const outputs = await deploy({
    endpoint,
    app: "node --import tsx test/bench/faults/app.ts",
    env: { BENCH_PROVIDER_URL: provider.url, BENCH_GATE_URL: gate.url },
    quiet: true,
  });
  const outputOf = (stack: string) => (name: string) => {
    const value = outputs[stack]?.[name];
    if (value === undefined) throw new Error(`stack ${stack} has no output ${name}`);
    return value;
  };
  const where = { endpoint, region: localRegion, credentials: { accessKeyId: "test", secretAccessKey: "test" } };
  const sqs = sqsClient(where);
  const ofPeers = outputOf(stackOf.peers);
  return [
    peer("plain handler", peers.plain, sqs, ofPeers, provider),
    peer("plain handler that sends keys", peers.plainKeyed, sqs, ofPeers, provider),
    peer("Powertools batch + idempotency", peers.powertools, sqs, ofPeers, provider),
    ...(await Promise.all(
      classes.map((effect) => {
        const output = outputOf(stackOf[effect]);
        const table = dynamoTable({ client: dynamoClient(where), tableName: output("TableName") });
        const send = commandQueue({ client: commandQueueClient(where), queueUrl: output("CommandsQueueUrl") });
        const client = clientOver({ table, send, clock: systemClock, newId: systemChance.id });
        return leasehold(effect, sqs, output, client, provider);
      }),
    )),
  ];
}

async function measureAll(): Promise<readonly Measured[]> {
  const provider = await startProvider();
  const gate = await openGate();
  const local = await startMinistack({ log: join(workspace, "bench-faults.log") });
  try {
    say("deploying");
    const subjects = await subjectsOn(local.endpoint, provider, gate);
    // Twice without a kill: the first round is there to start what starts only once, and is not shown.
    await Promise.all(subjects.map((subject) => measure(provider, gate, subject, "nothing killed")));
    const measured: Measured[] = [];
    for (const killPoint of killPoints) {
      say(killPoint);
      measured.push(...(await Promise.all(subjects.map((subject) => measure(provider, gate, subject, killPoint)))));
    }
    return measured;
  } finally {
    await local.stop();
    await gate.stop();
    await provider.stop();
  }
}

async function versionOf(name: string): Promise<string> {
  const { version } = JSON.parse(await readFile(join(projectRoot, "node_modules", name, "package.json"), "utf8"));
  return String(version);
}

await mkdir(workspace, { recursive: true });
const measured = await measureAll();
const machine = {
  date: new Date().toISOString().slice(0, 10),
  cores: availableParallelism(),
  node: process.versions.node,
  powertools: await versionOf("@aws-lambda-powertools/idempotency"),
};
const text = markdown(measured, machine);
await writeFile(join(workspace, "bench-faults.md"), text);
await writeFile(join(workspace, "bench-faults.json"), `${JSON.stringify({ machine, measured }, null, 2)}\n`);
process.stdout.write(`\n${text}\nThe same is in .leasehold/bench-faults.md and .json.\n`);
// What failed to close a socket must not hold the process.
process.exit(0);
