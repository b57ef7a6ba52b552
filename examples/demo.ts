/**
 * `npm run demo`: three workers are killed after they have bought a voucher and before that is recorded, one for each effect
 * class, and still one voucher each is bought. Only the process stands here: its streams, its signals, its exit.
 */
import { narrator } from "./demo/narrator.ts";
import { withStage } from "./demo/stage.ts";
import { playVouchers } from "./demo/story.ts";
import { ledgerTable, summaryTable, verdict } from "./demo/verdict.ts";

const interruption = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => interruption.abort());

const tell = narrator((line) => process.stdout.write(`${line}\n`));

async function demo(): Promise<boolean> {
  const seen = await withStage(tell, interruption.signal, (stage) => playVouchers(stage, tell, interruption.signal));
  const { holds, lines } = verdict(seen);
  const tables = ["What the provider saw:", "", ...ledgerTable(seen), "", "In short:", "", ...summaryTable(seen)];
  process.stdout.write(`\n${tables.join("\n")}\n\n${lines.join("\n")}\n`);
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
