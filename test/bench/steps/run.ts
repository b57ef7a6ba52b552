/**
 * npm run bench:steps: what a durable hop costs as a step inside one node, and as a node of a chain; against the same local
 * table, in this process. Units are the table's own ConsumedCapacity. The hop of a chain has the queue and the stream on
 * top, which are not in here. A report, never a test.
 */
import { performance } from "node:perf_hooks";
import * as z from "zod";
import { startMinistack } from "../../../cli/local/ministack.ts";
import { systemChance } from "../../../shared/adapters/chance.ts";
import { systemClock } from "../../../shared/adapters/clock.ts";
import { dynamoTable } from "../../../shared/adapters/dynamo-table.ts";
import { memoryBlobs } from "../../../shared/adapters/memory-blobs.ts";
import { handleCommand } from "../../../shared/command.ts";
import { limitsWith } from "../../../shared/limits.ts";
import { anyPool } from "../../../shared/pools.ts";
import type { Log, Queue } from "../../../shared/ports.ts";
import { type AnyTool, defineTool, toolTable } from "../../../shared/tool.ts";
import { handleDelivery } from "../../../shared/worker.ts";
import { emulatorTable } from "../../contract/emulator-table.ts";

const hops = 20;
const rounds = 5;
const silent: Log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const noQueue: Queue = { send: async () => [], reject: async () => {}, hide: async () => {} };
const any = z.record(z.string(), z.json());

const tools: readonly AnyTool[] = [
  defineTool({
    name: "steps",
    effect: "idempotent",
    input: any,
    output: any,
    execute: async (_input, context) => {
      for (let hop = 0; hop < hops; hop++) await context.step(`step-${hop}`, async () => ({ hop }));
      return {};
    },
  }),
  defineTool({ name: "hop", effect: "idempotent", input: any, output: any, execute: async () => ({ hop: 1 }) }),
] as readonly AnyTool[];

type Measured = { readonly units: number; readonly calls: number; readonly ms: number };
type Capacity = { readonly CapacityUnits?: number };

async function main(): Promise<void> {
  const local = await startMinistack();
  try {
    const { client, tableName } = await emulatorTable(local.endpoint);
    let units = 0;
    let calls = 0;
    client.middlewareStack.add(
      (next) => async (args) => {
        Object.assign(args.input, { ReturnConsumedCapacity: "TOTAL" });
        const result = await next(args);
        const said = Reflect.get(result.output as object, "ConsumedCapacity") as
          | Capacity
          | readonly Capacity[]
          | undefined;
        units += [said ?? []].flat().reduce((sum, one) => sum + (one.CapacityUnits ?? 0), 0);
        calls += 1;
        return result;
      },
      { step: "initialize", name: "capacity", override: true },
    );
    const limits = limitsWith();
    const table = dynamoTable({ client, tableName });
    const world = {
      table,
      queue: noQueue,
      blobs: memoryBlobs(),
      clock: systemClock,
      chance: systemChance,
      log: silent,
      count: () => {},
      limits,
      namespace: "bench",
      tools: toolTable(tools, anyPool(limits)),
      pulse: { table, queue: noQueue },
      endProcess: () => Promise.reject(new Error("no process ends here")),
    };

    const run = async (nodes: readonly object[], nodeIds: readonly string[]): Promise<Measured> => {
      const runId = systemChance.id();
      const body = JSON.stringify({ type: "start_run", run_id: runId, nodes });
      await handleCommand(world, { messageId: systemChance.id(), body });
      [units, calls] = [0, 0];
      const startedAtMs = performance.now();
      for (const nodeId of nodeIds) {
        const message = { run_id: runId, node_id: nodeId, dispatch_id: "d-0" };
        const delivery = { messageId: systemChance.id(), receiptHandle: "r", body: JSON.stringify(message) };
        const verdict = await handleDelivery(world, delivery, { remainingMs: () => limits.functionTimeoutMs });
        if (verdict !== "acknowledge") throw new Error(`node ${nodeId} was not done`);
      }
      return { units, calls, ms: performance.now() - startedAtMs };
    };

    const ids = Array.from({ length: hops }, (_, hop) => `n${hop}`);
    const chain = ids.map((node_id, hop) => ({ node_id, tool: "hop", depends_on: hop === 0 ? [] : [`n${hop - 1}`] }));
    const alone = () => run([{ node_id: "a", tool: "hop" }], ["a"]);
    const stepped = () => run([{ node_id: "a", tool: "steps" }], ["a"]);
    const chained = () => run(chain, ids);
    await Promise.all([alone(), stepped()]);

    const median = async (what: () => Promise<Measured>): Promise<Measured> => {
      const all: Measured[] = [];
      for (let round = 0; round < rounds; round++) all.push(await what());
      const [middle] = all.sort((a, b) => a.ms - b.ms).slice(Math.floor(rounds / 2));
      if (middle === undefined) throw new Error("nothing was measured");
      return middle;
    };
    const one = await median(alone);
    const steps = await median(stepped);
    const nodes = await median(chained);
    const each = (measured: Measured, base: Measured | undefined, count: number): string => {
      const [units0, calls0, ms0] = base === undefined ? [0, 0, 0] : [base.units, base.calls, base.ms];
      const per = (value: number): string => (value / count).toFixed(2);
      return `${per(measured.units - units0)} units | ${per(measured.calls - calls0)} calls | ${per(measured.ms - ms0)} ms`;
    };
    console.log(
      `median of ${rounds} rounds, ${hops} hops each, ${new Date().toISOString().slice(0, 10)}, Node ${process.version}, MiniStack`,
    );
    console.log("| hop | units (read and write) | table calls | time |");
    console.log("| --- | --- | --- | --- |");
    console.log(`| a step inside one node | ${each(steps, one, hops)} |`);
    console.log(`| a node of a chain, without queue and stream | ${each(nodes, undefined, hops)} |`);
    client.destroy();
  } finally {
    await local.stop();
  }
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
