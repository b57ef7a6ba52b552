/**
 * `npm run demo`: a worker is killed after it has bought a voucher and before that is recorded, and still one voucher is
 * bought. Only the process stands here: its streams, its signals, its exit.
 */
import { narrator } from "./demo/narrator.ts";
import { withStage } from "./demo/stage.ts";
import { playVoucher } from "./demo/story.ts";
import { ledgerTable, verdict } from "./demo/verdict.ts";

const interruption = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => interruption.abort());

const tell = narrator((line) => process.stdout.write(`${line}\n`));

async function demo(): Promise<boolean> {
  const shown = await withStage(tell, interruption.signal, (stage) => playVoucher(stage, tell, interruption.signal));
  const { holds, lines } = verdict(shown);
  process.stdout.write(`\nWhat the provider saw:\n\n${ledgerTable(shown.calls).join("\n")}\n\n${lines.join("\n")}\n`);
  return holds;
}

try {
  if (!(await demo())) process.exitCode = 1;
} catch (error) {
  // Ctrl-C is no failure that needs words; 130 is what shells give a program that it has ended.
  if (interruption.signal.aborted) process.exit(130);
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
  // Not by itself: what failed may have left a socket open, and all that was started is stopped by now.
  process.exit(1);
}
