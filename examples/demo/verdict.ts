/** Whether what was seen is what is promised. Pure. */
import type { RunView } from "../../client/index.ts";
import type { NodeItem } from "../../shared/model.ts";
import { type Entry, nameOf } from "./books.ts";
import type { Part } from "./cast.ts";

export type Seen = {
  readonly part: Part;
  readonly run: RunView;
  readonly books: readonly Entry[];
  /** Node buy as it stood when its worker was killed. */
  readonly atKill: NodeItem | undefined;
};

export function ledgerTable(seen: readonly Seen[]): readonly string[] {
  const entries = seen.flatMap(({ part, books }) => books.map((entry) => ({ ...entry, effectClass: part.effect })));
  const rows = entries
    .sort((a, b) => a.atMs - b.atMs)
    .map((entry, place) => [
      String(place + 1),
      entry.effectClass,
      `${entry.method} ${entry.path}${entry.method === "GET" ? "/by-operation" : ""}`,
      entry.operation === undefined ? "none" : `${entry.hasKey ? "key" : "reference"} ${entry.operation.slice(0, 8)}…`,
      String(entry.fencingToken ?? "-"),
      String(entry.worker ?? "?"),
      outcomeOf(entry),
    ]);
  return aligned([["#", "effect class", "call", "operation", "token", "process", "what it made"], ...rows]);
}

const outcomeOf = ({ method, effect }: Entry): string => {
  if (method === "GET") return effect === undefined ? "nothing: not found" : `nothing: finds ${nameOf(effect)}`;
  return effect === undefined ? "nothing: this operation is known" : nameOf(effect);
};

export function summaryTable(seen: readonly Seen[]): readonly string[] {
  const rows = seen.map((one) => [
    one.part.effect,
    String(one.atKill === undefined ? 0 : 1),
    String(buysOf(one).length),
    String(lookUpsOf(one).length),
    resolvedBy(one) ?? "-",
    String(made(one, "/vouchers")),
    String(made(one, "/mails")),
    one.run.status,
  ]);
  return aligned([
    ["effect class", "killed", "calls to buy", "look-ups", "resolved by", "vouchers", "mails", "run"],
    ...rows,
  ]);
}

const buysOf = ({ books }: Seen) => books.filter(({ method, path }) => method === "POST" && path === "/vouchers");
const lookUpsOf = ({ books }: Seen) => books.filter(({ method }) => method === "GET");
const made = ({ books }: Seen, path: string): number =>
  books.filter((entry) => entry.method === "POST" && entry.path === path && entry.effect !== undefined).length;
const resolvedBy = ({ run }: Seen): string | undefined =>
  run.nodes.find(({ nodeId }) => nodeId === "buy")?.resolution?.by;

type Fact = readonly [boolean, string];

export function verdict(seen: readonly Seen[]): { readonly holds: boolean; readonly lines: readonly string[] } {
  const facts = seen.flatMap((one) =>
    [...commonFacts(one), ...classFacts(one)].map(([isSo, fact]): Fact => [isSo, `${one.part.effect}: ${fact}`]),
  );
  const holds = seen.length === 3 && facts.every(([isSo]) => isSo);
  if (holds)
    return {
      holds,
      lines: ["Killed three times, bought three times: one voucher and one mail each, all runs SUCCEEDED."],
    };
  return { holds, lines: ["NOT as promised:", ...facts.map(([isSo, fact]) => `  ${isSo ? "yes" : "NO "}  ${fact}`)] };
}

const commonFacts = (one: Seen): readonly Fact[] => [
  [one.atKill?.status === "RUNNING", "the worker was killed after the effect and before the commit"],
  [made(one, "/vouchers") === 1, `vouchers: ${made(one, "/vouchers")}`],
  [made(one, "/mails") === 1, `mails: ${made(one, "/mails")}`],
  [one.run.status === "SUCCEEDED", `run: ${one.run.status}`],
];

function classFacts(one: Seen): readonly Fact[] {
  const [first, second] = buysOf(one);
  const calls = buysOf(one).length;
  const lookUps = lookUpsOf(one);
  switch (one.part.effect) {
    case "idempotent":
      return [
        [calls === 2, `calls to /vouchers: ${calls}`],
        [first?.operation !== undefined && first.operation === second?.operation, "both under one operation id"],
        [(second?.fencingToken ?? 0) > (first?.fencingToken ?? 0), "the second with a higher fencing token"],
      ];
    case "reconcilable":
      return [
        [calls === 1, `calls to /vouchers: ${calls}`],
        [lookUps.length >= 1 && lookUps.at(-1)?.effect !== undefined, "it was looked up and found"],
        [resolvedBy(one) === undefined, "nobody had to be asked"],
      ];
    case "at_most_once":
      return [
        [calls === 1, `calls to /vouchers: ${calls}`],
        [resolvedBy(one) === "a person", `resolved by: ${resolvedBy(one) ?? "nobody"}`],
      ];
    default:
      return one.part.effect satisfies never;
  }
}

function aligned(table: readonly (readonly string[])[]): readonly string[] {
  const widths = (table[0] ?? []).map((_, column) => Math.max(...table.map((row) => row[column]?.length ?? 0)));
  return table.map((row) => `  ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  ")}`.trimEnd());
}
