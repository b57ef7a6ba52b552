/** The runs, the kills, and what can be seen of both: in the table, and at the provider. */
import { readFile } from "node:fs/promises";
import { type Client, createClient } from "../../client/index.ts";
import { systemClock } from "../../shared/adapters/clock.ts";
import { dynamoClient } from "../../shared/adapters/dynamo-client.ts";
import { dynamoTable } from "../../shared/adapters/dynamo-table.ts";
import { nodePrefix, runPartition } from "../../shared/keys.ts";
import { type NodeItem, nodeItemSchema, readItem, startRunSchema } from "../../shared/model.ts";
import type { Table } from "../../shared/ports.ts";
import type { Provider } from "../../test/support/provider.ts";
import { booksOf, isOf, lookUpsOf } from "./books.ts";
import { cast, type Part } from "./cast.ts";
import { killFirstBuyer } from "./killing.ts";
import type { Tell } from "./narrator.ts";
import { resolveAsAPerson } from "./person.ts";
import { demoLimits, type Stage } from "./stage.ts";
import { changesTold, lookUpLine } from "./told.ts";
import type { Seen } from "./verdict.ts";

const runTimeoutMs = 75_000;
const lookEveryMs = 60;
/** How long each call of the provider takes: the outside world is not instant either. */
const callMs = 300;

/** All three side by side, since two of them wait until their killed owner's invocation would surely be over. */
export async function playVouchers(stage: Stage, tell: Tell, signal: AbortSignal): Promise<readonly Seen[]> {
  const { provider, tableName, commandsQueueUrl } = stage;
  for (const path of ["/vouchers", "/saved-vouchers", "/mails"]) provider.tell(path, { slowMs: callMs });
  const client = createClient({ tableName, commandsQueueUrl });
  const table = dynamoTable({ client: dynamoClient(), tableName });
  const { leaseMs, functionTimeoutMs } = demoLimits;
  tell(
    `three times buy -> save -> mail, each buy with a tool of another effect class; a claim holds for ${leaseMs / 1_000} s`,
  );
  tell(`unless renewed, and an invocation for ${functionTimeoutMs / 1_000} s: then its process is surely dead`);
  const width = Math.max(...cast.map(({ effect }) => effect.length));
  return Promise.all(
    cast.map((part) => {
      const tellPart: Tell = (what) => tell(`${part.effect.padEnd(width)}  ${what}`);
      return playVoucher({ part, provider, client, table, tell: tellPart, signal });
    }),
  );
}

type Scene = {
  readonly part: Part;
  readonly provider: Provider;
  readonly client: Client;
  readonly table: Table;
  readonly tell: Tell;
  readonly signal: AbortSignal;
};

/** @throws Error where the worker could not be killed, or the run does not end in time. */
async function playVoucher(scene: Scene): Promise<Seen> {
  const { part, provider, client, table, tell, signal } = scene;
  const runId = `${part.effect.replaceAll("_", "-")}-${Date.now().toString(36)}`;
  const nodesNow = async (): Promise<readonly NodeItem[]> =>
    (await table.query(runPartition(runId), nodePrefix))
      .map((item) => readItem(nodeItemSchema, item))
      .sort((a, b) => a.ordinal - b.ordinal);
  const buyNow = async () => (await nodesNow()).find((node) => node.node_id === "buy");
  const killed = killFirstBuyer(provider, part, tell, buyNow);

  const handle = await client.startRun({ runId, nodes: await voucherNodes(part) }, { signal });
  await handle.accepted({ timeoutMs: runTimeoutMs, signal });
  tell(`run ${runId} accepted: it is in DynamoDB`);

  const giveUpAtMs = performance.now() + runTimeoutMs;
  let lookUpsTold = 0;
  let hasResolved = false;
  for (let before: readonly NodeItem[] = []; ; ) {
    signal.throwIfAborted();
    if (killed.error !== undefined) throw killed.error;
    // The run before its nodes: where it has ended, the nodes that are read after it have ended too.
    const run = await client.getRun(runId);
    const nodes = await nodesNow();
    for (const asked of lookUpsOf(provider, part).slice(lookUpsTold)) {
      tell(lookUpLine(asked));
      lookUpsTold += 1;
    }
    for (const line of changesTold(before, nodes, killed.node)) tell(line);
    if (run?.ended === true) {
      tell(`run ${run.status}`);
      return { part, run, books: await booksOf(provider, part), atKill: killed.node };
    }
    if (run?.waitsFor !== undefined && !hasResolved) {
      hasResolved = true;
      await resolveAsAPerson(
        client,
        provider.effects.filter(({ sequence }) => isOf(provider, part, sequence)),
        runId,
        tell,
      );
    }
    if (performance.now() > giveUpAtMs) throw new Error(`run ${runId} did not end within ${runTimeoutMs / 1_000} s`);
    before = nodes;
    await systemClock.sleep(lookEveryMs, signal);
  }
}

async function voucherNodes({ tool, customer }: Part) {
  const file = new URL("../voucher.json", import.meta.url);
  const { nodes } = startRunSchema.pick({ nodes: true }).parse(JSON.parse(await readFile(file, "utf8")));
  return nodes.map((node) => ({
    nodeId: node.node_id,
    tool: node.node_id === "buy" ? tool : node.tool,
    input: { ...Object(node.input), customer },
    dependsOn: node.depends_on,
  }));
}
