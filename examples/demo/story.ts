/** The run, the kill, and what can be seen of both: in the table, and at the provider. */
import { readFile } from "node:fs/promises";
import { createClient } from "../../client/index.ts";
import { systemClock } from "../../shared/adapters/clock.ts";
import { dynamoClient } from "../../shared/adapters/dynamo-client.ts";
import { dynamoTable } from "../../shared/adapters/dynamo-table.ts";
import { nodePrefix, runPartition } from "../../shared/keys.ts";
import { type NodeItem, nodeItemSchema, readItem, startRunSchema } from "../../shared/model.ts";
import { kill } from "../../test/support/processes.ts";
import type { Provider } from "../../test/support/provider.ts";
import type { Tell } from "./narrator.ts";
import { demoLimits, type Stage } from "./stage.ts";
import { changesTold } from "./told.ts";
import type { Seen } from "./verdict.ts";

const runTimeoutMs = 60_000;
const lookEveryMs = 40;
/** How long each call of the provider takes: the outside world is not instant either. */
const callMs = 300;

/** @throws Error where the worker could not be killed, or the run does not end in time. */
export async function playVoucher(stage: Stage, tell: Tell, signal: AbortSignal): Promise<Seen> {
  const { provider, tableName, commandsQueueUrl } = stage;
  const runId = `voucher-${Date.now().toString(36)}`;
  const client = createClient({ tableName, commandsQueueUrl });
  const table = dynamoTable({ client: dynamoClient(), tableName });
  const nodesNow = async (): Promise<readonly NodeItem[]> =>
    (await table.query(runPartition(runId), nodePrefix))
      .map((item) => readItem(nodeItemSchema, item))
      .sort((a, b) => a.ordinal - b.ordinal);

  for (const path of ["/vouchers", "/saved-vouchers", "/mails"]) provider.tell(path, { slowMs: callMs });
  const killed = killFirstBuyer(provider, tell, async () => (await nodesNow()).find((node) => node.node_id === "buy"));

  const handle = await client.startRun({ runId, nodes: await voucherNodes() }, { signal });
  tell("start_run sent to SQS: buy -> save -> mail");
  await handle.accepted({ timeoutMs: runTimeoutMs, signal });
  tell(`run ${runId} accepted: it is in DynamoDB; a claim holds for ${demoLimits.leaseMs / 1_000} s unless renewed`);

  const giveUpAtMs = performance.now() + runTimeoutMs;
  for (let before: readonly NodeItem[] = []; ; ) {
    signal.throwIfAborted();
    if (killed.error !== undefined) throw killed.error;
    // The run before its nodes: where it has ended, the nodes that are read after it have ended too.
    const run = await client.getRun(runId);
    const nodes = await nodesNow();
    for (const line of changesTold(before, nodes, killed.node)) tell(line);
    if (run?.ended === true) {
      tell(`run ${run.status}`);
      return { run, calls: await callsOf(provider), atKill: killed.node };
    }
    if (performance.now() > giveUpAtMs) throw new Error(`run ${runId} did not end within ${runTimeoutMs / 1_000} s`);
    before = nodes;
    await systemClock.sleep(lookEveryMs, signal);
  }
}

async function voucherNodes() {
  const file = new URL("../voucher.json", import.meta.url);
  const { nodes } = startRunSchema.pick({ nodes: true }).parse(JSON.parse(await readFile(file, "utf8")));
  return nodes.map(({ node_id, tool, input, depends_on }) => ({ nodeId: node_id, tool, input, dependsOn: depends_on }));
}

type Killed = { node?: NodeItem; error?: Error };

/** The provider has made the voucher and holds its answer back until this is done, so the worker cannot have recorded it. */
function killFirstBuyer(provider: Provider, tell: Tell, nodeNow: () => Promise<NodeItem | undefined>): Killed {
  const killed: Killed = {};
  const stopListening = provider.onActed(async (call) => {
    if (call.path !== "/vouchers") return;
    stopListening();
    try {
      const pid = await call.pid();
      if (pid === undefined) throw new Error("the worker is no process of this machine, so it cannot be killed");
      tell(`provider: voucher made, answer not sent yet; the caller is worker process ${pid}`);
      await kill(pid);
      const node = await nodeNow();
      if (node === undefined) throw new Error("node buy is not in the table");
      tell(`KILLED process ${pid} (SIGKILL). The table says: buy is ${node.status}; of the voucher it knows nothing`);
      tell("its message stays hidden from other workers until the lease has ended");
      killed.node = node;
    } catch (error) {
      killed.error = error instanceof Error ? error : new Error(String(error));
    }
  });
  return killed;
}

async function callsOf(provider: Provider): Promise<Seen["calls"]> {
  const made = new Map(provider.effects.map((effect) => [effect.sequence, effect.answer]));
  return Promise.all(
    provider.calls.map(async ({ path, operationId, fencingToken, sequence, pid }) => ({
      path,
      operationId,
      fencingToken,
      worker: await pid(),
      effect: made.get(sequence),
    })),
  );
}
