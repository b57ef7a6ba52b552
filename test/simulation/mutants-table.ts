/**
 * npm run mutants [-- --random N] [--only TEXT] [--explained]: every known mistake and what caught it. Those with a known
 * reason to survive are searched too with --explained, which takes long. What caught each is kept in witnesses.json.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { hunt, replay } from "./hunt.ts";
import { allMutants } from "./mutants.ts";
import { reasonFor } from "./survivors.ts";

const file = new URL("witnesses.json", import.meta.url);

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      random: { type: "string", default: "3000" },
      only: { type: "string", default: "" },
      explained: { type: "boolean", default: false },
    },
  });
  const random = Number(values.random);
  if (!Number.isSafeInteger(random) || random < 0) {
    throw new Error(`--random must be a whole number, got ${values.random}`);
  }
  const known = JSON.parse(readFileSync(file, "utf8")) as Record<string, string>;
  const counts = { caught: 0, explained: 0, unexplained: 0 };
  for (const mutant of (await allMutants()).filter(({ name }) => name.includes(values.only))) {
    const { name } = mutant;
    const why = reasonFor(name);
    if (why !== undefined && !values.explained) {
      counts.explained += 1;
      console.log(`harmless  ${name}\n          ${why}`);
      continue;
    }
    const again = known[name] === undefined ? undefined : await replay(mutant, known[name]);
    const result = again?.caughtBy === undefined ? await hunt(mutant, random) : again;
    if (result.caughtBy !== undefined) {
      counts.caught += 1;
      if (why === undefined) known[name] = result.caughtBy;
      console.log(`caught    ${name}\n          ${result.invariant?.slice(0, 140)}\n          by ${result.caughtBy}`);
      continue;
    }
    delete known[name];
    counts[why === undefined ? "unexplained" : "explained"] += 1;
    console.log(`survived  ${name}\n          ${why ?? "NO REASON IS KNOWN"}`);
  }
  writeFileSync(file, `${JSON.stringify(known, null, 2)}\n`);
  console.log(`${counts.caught} caught, ${counts.explained} harmless with a reason, ${counts.unexplained} unexplained`);
  if (counts.unexplained > 0) process.exitCode = 1;
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
