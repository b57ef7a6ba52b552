import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { hunt, replay } from "./hunt.ts";
import { allMutants } from "./mutants.ts";
import { reasonFor } from "./survivors.ts";

// Those with a reason to survive would cost a whole search each: `npm run mutants -- --explained` tries them too.
const mutants = (await allMutants()).filter(({ name }) => reasonFor(name) === undefined);
const witnesses = JSON.parse(readFileSync(new URL("witnesses.json", import.meta.url), "utf8")) as Record<
  string,
  string
>;

it("every condition of every write, and every mistake made by hand, is among the mutants", () => {
  expect(mutants.length).toBeGreaterThan(40);
});

it.each(mutants)("$name: a schedule shows it", async (mutant) => {
  const witness = witnesses[mutant.name];
  const again = witness === undefined ? undefined : await replay(mutant, witness);
  // Schedules move with the code: one that shows nothing any more is searched for anew.
  const { caughtBy } = again?.caughtBy === undefined ? await hunt(mutant, 2_000) : again;
  expect(caughtBy).toBeDefined();
});
