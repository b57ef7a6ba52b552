import { expect, test } from "vitest";
import type { RunSummary } from "../../../client/index.ts";
import { runKey, scanShardOf } from "../../../shared/keys.ts";
import type { Item } from "../../../shared/write.ts";
import { type Deployment, deploymentOf, runItem, startedAtMs } from "./deployment.ts";

const living = (runId: string, more: Item = {}) =>
  runItem({ run_id: runId, scan_shard: scanShardOf(runId), scan_at_ms: startedAtMs + 60_000, ...more });

async function withRuns(count: number): Promise<Deployment & { readonly ids: readonly string[] }> {
  const deployment = deploymentOf();
  const ids = Array.from({ length: count }, (_, index) => `run-${index}`);
  for (const runId of ids) await deployment.put(living(runId));
  return { ...deployment, ids };
}

const idsOf = (runs: readonly RunSummary[]) => runs.map(({ runId }) => runId);

async function allPages(deployment: Deployment, limit: number, between?: () => Promise<void>): Promise<string[]> {
  const found: string[] = [];
  for (let page = await deployment.client.listRuns({ limit }); ; ) {
    expect(page.runs.length).toBeLessThanOrEqual(limit);
    found.push(...idsOf(page.runs));
    // A list that begins again and again must fail, not hang.
    expect(found.length).toBeLessThan(1_000);
    if (page.cursor === undefined) return found;
    await between?.();
    page = await deployment.client.listRuns({ limit, cursor: page.cursor });
  }
}

test("a deployment in which nothing runs lists no run", async () => {
  expect(await deploymentOf().client.listRuns()).toEqual({ runs: [] });
});

test("a run is listed as its own item shows it", async () => {
  const { client, put } = deploymentOf();
  await put(living("a", { node_count: 7, status: "CANCELLING", cancel_reason: "why" }));
  const { expires_at: _, ...doubtful } = living("b");
  await put({ ...doubtful, ...runKey("b") });
  const { runs, cursor } = await client.listRuns();
  expect(cursor).toBeUndefined();
  expect([...runs].sort((left, right) => (left.runId < right.runId ? -1 : 1))).toEqual([
    {
      runId: "a",
      status: "CANCELLING",
      createdAtMs: startedAtMs,
      deadlineAtMs: startedAtMs + 3_600_000,
      nodeCount: 7,
      cancelReason: "why",
    },
    {
      runId: "b",
      status: "RUNNING",
      createdAtMs: startedAtMs,
      deadlineAtMs: startedAtMs + 3_600_000,
      nodeCount: 1,
      hadDoubt: true,
    },
  ]);
});

test("what has ended, expired or gone since the index was written is left out", async () => {
  const { client, put } = deploymentOf();
  await put(living("lives"));
  await put(living("ended", { status: "SUCCEEDED" }));
  await put(living("expired", { expires_at: startedAtMs / 1_000 }));
  expect(idsOf((await client.listRuns()).runs)).toEqual(["lives"]);
});

test.each([1, 7, 16, 1_000])("pages of %d show each run once", async (limit) => {
  const deployment = await withRuns(100);
  expect((await allPages(deployment, limit)).sort()).toEqual([...deployment.ids].sort());
});

test("runs that the scanner moves in the index between two pages are neither lost nor shown twice", async () => {
  const deployment = await withRuns(100);
  let pages = 0;
  const found = await allPages(deployment, 9, async () => {
    // Back and forth: a command that wakes a quiet run sets its time back, a look moves it on.
    pages += 1;
    for (const [index, runId] of deployment.ids.entries()) {
      await deployment.put(living(runId, { scan_at_ms: startedAtMs + ((index * pages * 7_919) % 3_600_000) }));
    }
  });
  expect(pages).toBeGreaterThan(9);
  expect(found.sort()).toEqual([...deployment.ids].sort());
});

test("a run that ends between two pages does not end the list before its time", async () => {
  const deployment = await withRuns(64);
  const first = await deployment.client.listRuns({ limit: 8 });
  const last = idsOf(first.runs).at(-1) ?? "";
  const { scan_shard: _, scan_at_ms: __, ...ended } = living(last, { status: "SUCCEEDED" });
  await deployment.put({ ...ended, ...runKey(last) });
  const rest = await deployment.client.listRuns({ limit: 1_000, cursor: first.cursor ?? "" });
  expect([...idsOf(first.runs), ...idsOf(rest.runs)].sort()).toEqual([...deployment.ids].sort());
});

test("a page reads the runs that it shows, and no shard twice", async () => {
  const deployment = await withRuns(100);
  const { get, dueRuns } = deployment.table;
  const reads = { items: 0, shards: [] as number[] };
  Object.assign(deployment.table, {
    get: (key: Parameters<typeof get>[0]) => {
      reads.items += 1;
      return get(key);
    },
    dueRuns: (...of: Parameters<typeof dueRuns>) => {
      reads.shards.push(of[0]);
      return dueRuns(...of);
    },
  });
  await deployment.client.listRuns({ limit: 10 });
  expect(reads.items).toBe(10);
  expect(new Set(reads.shards).size).toBe(reads.shards.length);
  expect(reads.shards.length).toBeLessThan(16);
});

test("each run comes once where all are asked for, whatever the pages", async () => {
  const deployment = await withRuns(40);
  const found: string[] = [];
  for await (const { runId } of deployment.client.eachRun({ limit: 3 })) {
    found.push(runId);
    expect(found.length).toBeLessThan(1_000);
  }
  expect(found.sort()).toEqual([...deployment.ids].sort());
});

test("an aborted signal ends the listing with its reason, even while a read hangs", async () => {
  const { client } = deploymentOf({ silent: true });
  const abort = new AbortController();
  const listing = client.listRuns({ signal: abort.signal });
  abort.abort(new Error("enough"));
  await expect(listing).rejects.toThrow("enough");
});
