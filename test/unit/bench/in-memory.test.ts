/** What a run costs, against what the design says that it writes. */
import { expect, test } from "vitest";
import type { BenchGraph } from "../../bench/report/graphs.ts";
import { countInMemory } from "../../bench/report/in-memory.ts";
import { noTally, sumOf } from "../../bench/report/tally.ts";

const graphOf = (...nodes: BenchGraph["nodes"]): BenchGraph => ({ name: "small", nodes, inParts: false });

test("a run of one node costs what its items cost by hand", async () => {
  const { tallies } = await countInMemory(graphOf({ node_id: "a", depends_on: [] }));
  // Run, answer, node and entry, each of one unit and twice in a transaction, and the run's way into the index.
  expect(tallies.commands).toEqual({
    ...noTally(),
    invocations: 1,
    TransactWriteItems: 1,
    transactActions: 4,
    writeUnits: 4 * 2 + 1,
  });
  expect(tallies.relay).toEqual({ ...noTally(), invocations: 1, sendRequests: 1, messages: 1 });
  // The claim; the run is read; the commit ends the node and the run, which leaves the index.
  expect(tallies.worker).toEqual({
    ...noTally(),
    invocations: 1,
    UpdateItem: 1,
    GetItem: 1,
    TransactWriteItems: 1,
    transactActions: 2,
    readUnits: 1,
    writeUnits: 1 + 2 * 2 + 1,
    hides: 1,
  });
});

test("one node more in a chain costs nine write units", async () => {
  const two = await countInMemory(graphOf({ node_id: "a", depends_on: [] }, { node_id: "b", depends_on: ["a"] }));
  const three = await countInMemory(
    graphOf({ node_id: "a", depends_on: [] }, { node_id: "b", depends_on: ["a"] }, { node_id: "c", depends_on: ["b"] }),
  );
  // Its item in the start 2, its claim 1, and in its commit its end 2, its dependent 2, the entry 2.
  expect(sumOf(three.tallies).writeUnits - sumOf(two.tallies).writeUnits).toBe(9);
});

test("a run that does not fit a start is counted as well, its items a hundred in a transaction", async () => {
  const nodes = Array.from({ length: 150 }, (_, place) => ({ node_id: `n-${place}`, depends_on: [] }));
  const { tallies } = await countInMemory({ name: "wide", nodes, inParts: true });
  expect(tallies.commands.TransactWriteItems).toBe(2);
  expect(tallies.worker.invocations).toBe(150);
});

test("a pass of the scanner costs half a read unit a shard, and more where a run is due", async () => {
  const { idlePass, scanOfRun } = await countInMemory(graphOf({ node_id: "a", depends_on: [] }));
  expect(idlePass).toEqual({ ...noTally(), Query: 16, readUnits: 8 });
  // The run and its nodes are read, and the time of its next look moves it in the index.
  expect(scanOfRun).toMatchObject({ GetItem: 1, Query: 1, readUnits: 2, UpdateItem: 1, writeUnits: 1 + 2 });
});
