/** Times, bundles and cold starts as Markdown. Pure. */
import type { Bundles, WeighedFunction, Weight } from "./bundles.ts";
import type { InitTimes } from "./init-time.ts";
import { grouped, type Row, rounded, table } from "./markdown-table.ts";
import type { Spread } from "./spread.ts";
import type { Times } from "./times.ts";
import { waitMs } from "./tools.ts";

const inMs = (name: string, { median, p95, max, n }: Spread): Row => [
  name,
  rounded(median, 1),
  rounded(p95, 1),
  rounded(max, 1),
  n,
];

export function timesReport(times: Times): string {
  const { bareTransaction: bare, chain, throughput, workerInvocation } = times;
  return [
    "### Times on the emulator",
    "",
    "A hop is stream -> relay -> queue -> worker. Here all of it is one Python process on the same cores, whose pollers look when they are woken; on AWS a stream is",
    "polled 4 times a second (`with-ddb.html`), which alone is 0 to 250 ms of a hop. So these numbers show that nothing waits needlessly, and not what AWS takes: read",
    "them against the bare transaction, two items of half a KB put by one process while nothing else goes on. A node's end and what that makes READY bear the time at which",
    "their commit was built, and a claim the time at which it was sent: so both READY -> claimed and the hop hold the commit, and the hop holds the claim as well.",
    "",
    table(
      ["ms", "median", "p95", "max", "n"],
      [
        inMs("one bare transaction of two items", bare),
        inMs("chain: READY -> claimed", chain.readyToClaimed),
        inMs("chain: claimed -> the tool runs", chain.claimedToTool),
        inMs("chain: hop, a node's end -> its dependent's tool", chain.hop),
        inMs("chain: one invocation of the worker, as the emulator reports it", workerInvocation),
      ],
    ),
    "",
    `A hop takes the time of ${rounded(chain.hop.median / bare.median, 1)} bare transactions (medians).`,
    "",
    table(
      ["nodes a second, fan-out of 50", "least", "median", "most", "n"],
      throughput.map(({ tool, concurrentWorkers, nodesPerSecond: { min, median, max, n } }) => [
        `${concurrentWorkers} worker${concurrentWorkers === 1 ? "" : "s"} at once, a tool that ${tool === "wait" ? `waits ${waitMs} ms` : "does nothing"}`,
        rounded(min, 1),
        rounded(median, 1),
        rounded(max, 1),
        n,
      ]),
    ),
    "",
    "The tool that does nothing shows what the emulator carries on these cores, which it shares with the workers; the one that waits shows workers side by side. One at a",
    "time by a reserved concurrency of 1, since a mapping's `MaximumConcurrency` is 2 at the least; five are what the emulator runs at once by itself.",
    "",
  ].join("\n");
}

/** Packages that weigh less are added up. */
const shownFromBytes = 4_000;

export function bundlesReport({ functions }: Bundles): string {
  const worker = functions.find(({ name }) => name === "worker");
  return [
    "### Bundles",
    "",
    "Bytes as they are deployed, minified, not compressed. A cold start loads `index.mjs` and what it imports; the rest is loaded when it is first needed, as the client for S3 is.",
    "",
    table(
      ["function", "loaded at a cold start", "loaded when needed", "files"],
      functions.map((one) => [one.name, grouped(bytesOf(one, true)), grouped(bytesOf(one, false)), one.files.length]),
    ),
    "",
    ...(worker === undefined ? [] : workerReport(worker)),
  ].join("\n");
}

const bytesOf = ({ files }: WeighedFunction, atStart: boolean): number =>
  files.filter((file) => file.atStart === atStart).reduce((sum, file) => sum + file.bytes, 0);

function workerReport({ files, packages }: WeighedFunction): readonly string[] {
  const isShown = ({ atStartBytes, laterBytes }: Weight): boolean => atStartBytes + laterBytes >= shownFromBytes;
  const small = packages.filter((one) => !isShown(one));
  const total = (of: (one: Weight) => number): number => small.reduce((sum, one) => sum + of(one), 0);
  const rest: Weight = {
    name: `${small.length} smaller ones`,
    atStartBytes: total((one) => one.atStartBytes),
    laterBytes: total((one) => one.laterBytes),
  };
  return [
    table(
      ["the worker's files", "bytes", "loaded"],
      files.map(({ name, bytes, atStart }) => [
        `\`${withoutHash(name)}\``,
        grouped(bytes),
        atStart ? "at a cold start" : "when needed",
      ]),
    ),
    "",
    table(
      ["what weighs in the worker", "at a cold start", "when needed"],
      [...packages.filter(isShown), rest].map(({ name, atStartBytes, laterBytes }) => [
        name,
        grouped(atStartBytes),
        grouped(laterBytes),
      ]),
    ),
    "",
  ];
}

/** Which changes with each byte, and so would the page. */
const withoutHash = (name: string): string => name.replace(/-[A-Z0-9]{8}\.mjs$/, "-….mjs");

export function initReport({ bare, worker }: InitTimes): string {
  return [
    "### Cold start",
    "",
    "From before the import of `index.mjs` until the handler is there, in a fresh Node process each time, in turns; no AWS call is made. The bare handler holds the same two clients and nothing else.",
    "",
    table(
      ["ms", "least", "median", "p95", "most", "n"],
      [
        { name: "bare handler", ...bare },
        { name: "worker", ...worker },
      ].map(({ name, min, median, p95, max, n }) => [
        name,
        rounded(min, 1),
        rounded(median, 1),
        rounded(p95, 1),
        rounded(max, 1),
        n,
      ]),
    ),
    "",
    `The worker takes ${rounded(worker.median - bare.median, 1)} ms more (medians). A Lambda of 512 MiB has about a third of a core, so there both take several times as long.`,
    "",
  ].join("\n");
}
