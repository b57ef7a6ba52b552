/** npm run mutants [-- --random N]: every known mistake, what caught it, and the reason where nothing could. */
import { parseArgs } from "node:util";
import { hunt } from "./hunt.ts";
import { allMutants } from "./mutants.ts";
import { reasonFor } from "./survivors.ts";

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { random: { type: "string", default: "1500" } } });
  const random = Number(values.random);
  if (!Number.isSafeInteger(random) || random < 0)
    throw new Error(`--random must be a whole number, got ${values.random}`);
  const mutants = await allMutants();
  let caught = 0;
  let unexplained = 0;
  for (const { name, sabotage } of mutants) {
    const result = await hunt(sabotage, random);
    if (result.invariant !== undefined) {
      caught += 1;
      console.log(`caught    ${name}\n          ${result.invariant.slice(0, 140)}\n          by ${result.caughtBy}`);
      continue;
    }
    const why = reasonFor(name);
    if (why === undefined) unexplained += 1;
    console.log(`survived  ${name}\n          ${why ?? "NO REASON IS KNOWN"}`);
  }
  console.log(
    `${mutants.length} mutants: ${caught} caught, ${mutants.length - caught - unexplained} harmless with a reason, ${unexplained} unexplained`,
  );
  if (unexplained > 0) process.exitCode = 1;
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
