/** The measured numbers as Markdown. Pure. */
import { finishesWithinMs, type Measured } from "./measure.ts";
import { killPoints, limits } from "./variants.ts";

const columns = [
  "killed",
  "variant",
  "calls",
  "look-ups",
  "vouchers",
  "saved",
  "mails",
  "finished",
  "stuck",
  "resolved by hand",
  "recovery",
];

export type Machine = {
  readonly date: string;
  readonly cores: number;
  readonly node: string;
  readonly powertools: string;
};

export function markdown(measured: readonly Measured[], machine: Machine): string {
  const rows = killPoints.flatMap((point) =>
    measured.filter(({ killPoint }) => killPoint === point).map((each, place) => rowOf(each, place === 0)),
  );
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  return [
    `Measured ${machine.date} on ${machine.cores} cores, Node ${machine.node}, MiniStack (an emulator of AWS on one machine), Powertools ${machine.powertools}.`,
    `One job for each row, the variants side by side; SIGKILL for the worker's process. All functions: timeout ${limits.functionTimeoutMs / 1_000} s,`,
    `queue visibility ${limits.queueVisibilityMs / 1_000} s, 100 receives; Leasehold: lease ${limits.leaseMs / 1_000} s. Peers: batches of up to 10; Leasehold: one message an invocation.`,
    `Recovery: from the kill (where nothing is killed, from the start) until the job has finished and no message of it is left; given up after ${finishesWithinMs / 1_000} s.`,
    "",
    line(columns),
    line(columns.map(() => "---")),
    ...rows.map(line),
    "",
  ].join("\n");
}

function rowOf(each: Measured, isFirst: boolean): readonly string[] {
  // What is more, or less, than the job was for stands out.
  const effects = (count: number): string => (count === 1 ? "1" : `**${count}**`);
  return [
    isFirst ? each.killPoint : "",
    each.variant,
    String(each.calls),
    String(each.lookUps),
    effects(each.vouchers),
    effects(each.saved),
    effects(each.mails),
    each.finished ? "yes" : "**lost**",
    String(each.stuckMessages),
    String(each.resolutions),
    each.recoveryMs === undefined ? "none" : `${(each.recoveryMs / 1_000).toFixed(1)} s`,
  ];
}
