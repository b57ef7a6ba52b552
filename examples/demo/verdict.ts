/** Whether what was seen is what is promised. Pure. */
import type { RunView } from "../../client/index.ts";
import type { NodeItem } from "../../shared/model.ts";

export type SeenCall = {
  readonly path: string;
  readonly operationId: string | undefined;
  readonly fencingToken: number | undefined;
  /** The calling process. */
  readonly worker: number | undefined;
  /** What the call made, missing where it made nothing. */
  readonly effect: unknown;
};

export type Seen = {
  readonly run: RunView;
  readonly calls: readonly SeenCall[];
  /** Node buy as it stood when its worker was killed. */
  readonly atKill: NodeItem | undefined;
};

export function ledgerTable(calls: readonly SeenCall[]): readonly string[] {
  const rows = calls.map((call, place) => [
    String(place + 1),
    `POST ${call.path}`,
    `${call.operationId?.slice(0, 8) ?? "none"}…`,
    String(call.fencingToken ?? "none"),
    String(call.worker ?? "?"),
    call.effect === undefined ? "nothing: this operation is known" : wordsOf(call.effect),
  ]);
  const table = [["#", "call", "operation", "token", "process", "what it made"], ...rows];
  const widths = (table[0] ?? []).map((_, column) => Math.max(...table.map((row) => row[column]?.length ?? 0)));
  return table.map((row) => `  ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  ")}`.trimEnd());
}

/** The name of what was made: the last text in the provider's answer that it chose itself. */
function wordsOf(effect: unknown): string {
  const { code, saved, mail_id: mailId } = effect as { code?: string; saved?: string; mail_id?: string };
  return code ?? (saved === undefined ? mailId : `${saved} saved`) ?? JSON.stringify(effect);
}

export function verdict({ run, calls, atKill }: Seen): { readonly holds: boolean; readonly lines: readonly string[] } {
  const buys = calls.filter((call) => call.path === "/vouchers");
  const made = (path: string): number => calls.filter((call) => call.path === path && call.effect !== undefined).length;
  const [first, second] = buys;
  const facts: readonly (readonly [boolean, string])[] = [
    [atKill?.status === "RUNNING", "the worker was killed after the effect and before the commit"],
    [buys.length === 2, `calls to /vouchers: ${buys.length}`],
    [new Set(buys.map((call) => call.operationId)).size === 1, "both under one operation id"],
    [(second?.fencingToken ?? 0) > (first?.fencingToken ?? 0), "the second with a higher fencing token"],
    [made("/vouchers") === 1, `vouchers: ${made("/vouchers")}`],
    [made("/mails") === 1, `mails: ${made("/mails")}`],
    [run.status === "SUCCEEDED", `run: ${run.status}`],
  ];
  const holds = facts.every(([isSo]) => isSo);
  if (holds) return { holds, lines: ["Killed once, called twice, bought once: one voucher, one mail, run SUCCEEDED."] };
  return { holds, lines: ["NOT as promised:", ...facts.map(([isSo, fact]) => `  ${isSo ? "yes" : "NO "}  ${fact}`)] };
}
