/** The counts as Markdown. Pure. */
import type { CountedGraph, Counts } from "./counts.ts";
import { type Row, rounded, table } from "./markdown-table.ts";
import { sqsRequestsOf } from "./money.ts";
import { sumOf, type Tallies, type Tally } from "./tally.ts";

/** Parts of what all functions together have asked for. */
const measures: readonly { readonly name: string; readonly of: (sum: Tally, tallies: Tallies) => number }[] = [
  { name: "GetItem", of: (sum) => sum.GetItem },
  { name: "Query", of: (sum) => sum.Query },
  { name: "PutItem", of: (sum) => sum.PutItem },
  { name: "UpdateItem", of: (sum) => sum.UpdateItem },
  { name: "TransactWriteItems", of: (sum) => sum.TransactWriteItems },
  { name: "… writes in these", of: (sum) => sum.transactActions },
  { name: "**write units**", of: (sum) => sum.writeUnits },
  { name: "**read units**", of: (sum) => sum.readUnits },
  { name: "messages", of: (sum) => sum.messages },
  { name: "SendMessageBatch", of: (sum) => sum.sendRequests },
  { name: "ChangeMessageVisibility", of: (sum) => sum.hides },
  { name: "… SQS requests, with the pollers' receives and deletes", of: (_, tallies) => sqsRequestsOf(tallies) },
  { name: "invocations of commands", of: (_, { commands }) => commands.invocations },
  { name: "invocations of the relay", of: (_, { relay }) => relay.invocations },
  { name: "invocations of the worker", of: (_, { worker }) => worker.invocations },
];

export function countsReport({ graphs }: Counts): string {
  const perNode = measures.map(
    ({ name, of }): Row => [name, ...graphs.map(({ tallies, nodes }) => rounded(of(sumOf(tallies), tallies) / nodes))],
  );
  return [
    "### Calls, units and messages per node",
    "",
    "One undisturbed run of each graph in memory, by the code that is deployed, over a table that charges as DynamoDB does (`read-write-operations.html`,",
    "`transaction-apis.html`); divided by the nodes, so that what a run costs once is in it. The tool does nothing, inputs and outputs are `{}`. The relay and",
    "commands have one record an invocation here, which is the most they can cost. A poller makes one receive and one delete for each invocation at the least.",
    "",
    table(["per node", ...graphs.map(({ graph, nodes }) => `${graph} (${nodes} nodes)`)], perNode),
    "",
    "montage does not fit one start: its items are written here as a start in parts would write them, 100 in a transaction.",
    "",
    "### The same, as the emulator counts it",
    "",
    "Sums for the whole run. A proxy before each deployed function asks for `ConsumedCapacity` in its place. The emulator's reads do not look at the item's size,",
    "so the read units above are those counted in memory; a retried conflict, or a batch that holds more than one record, makes the two differ.",
    "",
    ...graphs.flatMap(comparison),
    "### What the scanner adds",
    "",
    "A pass looks at 16 shards of the index each minute; a run that lives then is read with all its nodes.",
    "",
    table(
      ["for each minute", "no run", ...graphs.map(({ graph }) => `and one run of ${graph}`)],
      [
        ["calls", callsOf(graphs[0]?.idlePass), ...graphs.map(({ scanOfRun }) => callsOf(scanOfRun))],
        ["read units", graphs[0]?.idlePass.readUnits ?? 0, ...graphs.map(({ scanOfRun }) => scanOfRun.readUnits)],
        ["write units", graphs[0]?.idlePass.writeUnits ?? 0, ...graphs.map(({ scanOfRun }) => scanOfRun.writeUnits)],
      ],
    ),
    "",
  ].join("\n");
}

const callsOf = (tally: Tally | undefined): number =>
  tally === undefined ? 0 : tally.GetItem + tally.Query + tally.PutItem + tally.UpdateItem + tally.TransactWriteItems;

function comparison({ graph, tallies, deployed }: CountedGraph): readonly string[] {
  if (deployed === undefined) return [];
  const rows = measures
    .map(
      ({ name, of }): Row => [
        name,
        rounded(of(sumOf(tallies), tallies)),
        rounded(of(sumOf(deployed.tallies), deployed.tallies)),
      ],
    )
    .filter(([, inMemory, seen]) => inMemory !== "0" || seen !== "0");
  return [table([graph, "in memory", "on the emulator"], rows), ""];
}
