/** The money as Markdown. Pure. */
import type { CountedGraph, Counts } from "./counts.ts";
import { grouped, inDollars, type Row, table } from "./markdown-table.ts";
import {
  type Amounts,
  amountsOf,
  assumed,
  costOf,
  idleMonthOf,
  idlePolls,
  nothing,
  toolSecondUsd,
  totalOf,
} from "./money.ts";
import { type Price, type PriceName, prices } from "./prices.ts";
import { type FunctionName, functionNames } from "./tally.ts";

const shares: readonly { readonly name: string; readonly priced: PriceName }[] = [
  { name: "DynamoDB writes", priced: "writeUnit" },
  { name: "DynamoDB reads", priced: "readUnit" },
  { name: "SQS requests", priced: "sqsRequest" },
  { name: "Lambda requests", priced: "lambdaRequest" },
  { name: "Lambda time (assumed)", priced: "lambdaGbSecond" },
  { name: "CloudWatch Logs", priced: "logByte" },
];
const nodes = 1_000_000;

export function moneyReport({ graphs }: Counts): string {
  const logs = logBytesOf(graphs);
  const costs = graphs.map((graph) => ({
    graph: graph.graph,
    cost: costOf(amountsOf(graph.tallies, logs, assumed), nodes / graph.nodes),
  }));
  const [first] = graphs;
  const { billedMs, platformLogBytes } = assumed;
  return [
    "### Money per million nodes",
    "",
    table(
      ["US dollars, us-east-1", ...costs.map(({ graph }) => graph)],
      [
        ...shares.map(({ name, priced }): Row => [name, ...costs.map(({ cost }) => inDollars(cost[priced]))]),
        ["**together**", ...costs.map(({ cost }) => `**${inDollars(totalOf(cost))}**`)],
      ],
    ),
    "",
    `Counted: units, requests, invocations, and the log lines of the project's own (${functionNames
      .filter((name) => logs[name] > 0)
      .map((name) => `${name} ${grouped(logs[name])} B`)
      .join(
        ", ",
      )} an invocation). Assumed, as no emulator can tell: an invocation is billed for ${billedMs.worker} ms (worker),`,
    `${billedMs.relay} ms (relay) and ${billedMs.commands} ms (commands) besides what the tool itself takes, and Lambda's own two log lines are ${platformLogBytes} B.`,
    "Lambda's reads of the stream are free (`CostOptimization_StreamsUsage.html`). Not in it: free tiers, storage, backups, traffic out.",
    "",
    table(
      ["what adds to it", "a million times"],
      [
        ["a second of a tool's own time, in the worker's 512 MiB", inDollars(toolSecondUsd * nodes)],
        ["a heartbeat, each 10 s of a tool", inDollars(priced({ writeUnit: 1, readUnit: 1, sqsRequest: 1 }))],
        ["a remembered step", inDollars(priced({ writeUnit: 1 }))],
        ["each KB of an output of 1 to 16 KiB", inDollars(priced({ writeUnit: 1 }))],
        ["an output above 16 KiB, and one node that uses it", inDollars(priced({ blobPut: 1, blobGet: 1 }))],
      ],
    ),
    "",
    `For comparison: Step Functions Standard takes a state transition for each task at the least, ${inDollars(
      prices.stateTransition.usd * nodes,
    )} per million, and the invocation of the task's own function comes on top; what Leasehold adds to that invocation is in the table above.`,
    "",
    ...(first === undefined ? [] : idleReport(idleMonthOf(first.idlePass, assumed))),
    "### Prices",
    "",
    table(
      ["price", "US dollars per million", "page", "its date"],
      Object.values(prices).map(({ usd, per, page, dated }: Price) => [
        per,
        perMillion(usd),
        page,
        dated ?? "none given",
      ]),
    ),
    "",
    "AWS's own price pages could be read only without their tables, but for Step Functions': so all others are of third parties, and to be checked before a decision rests on them.",
    "",
  ].join("\n");
}

/** A million of each. */
const priced = (amounts: Partial<Amounts>): number => totalOf(costOf({ ...nothing, ...amounts }, nodes));

/** A price for a month is no price per million. */
const perMillion = (usd: number): string =>
  usd >= 0.1 ? `${usd} each` : String(Number((usd * 1_000_000).toPrecision(6)));

function idleReport(month: Amounts): readonly string[] {
  const cost = costOf(month, 1);
  const least = cost.sqsRequest * (idlePolls.least / idlePolls.most);
  return [
    "### A month in which nothing runs",
    "",
    table(
      ["US dollars", "a month"],
      [
        ["the scanner: reads of the index", inDollars(cost.readUnit)],
        ["the scanner: Lambda and its logs", inDollars(cost.lambdaRequest + cost.lambdaGbSecond + cost.logByte)],
        ["the pollers of two queues", `${inDollars(least)} to ${inDollars(cost.sqsRequest)}`],
      ],
    ),
    "",
    `An idle stream costs nothing, and free tiers cover all of this in an account that does little else. Each metric costs ${inDollars(prices.customMetric.usd)} in a month in which something writes it.`,
    "",
  ];
}

/** Bytes of one invocation by function, over all graphs that were deployed. */
function logBytesOf(graphs: readonly CountedGraph[]): Readonly<Record<FunctionName, number>> {
  const deployed = graphs.flatMap((graph) => graph.deployed ?? []);
  const of = (name: FunctionName): number => {
    const invocations = deployed.reduce((sum, { tallies }) => sum + tallies[name].invocations, 0);
    const bytes = deployed.reduce((sum, { ownLogBytes }) => sum + ownLogBytes[name], 0);
    return invocations === 0 ? 0 : bytes / invocations;
  };
  return { commands: of("commands"), relay: of("relay"), worker: of("worker"), scanner: of("scanner") };
}
