import { expect, it } from "vitest";
import { hunt } from "./hunt.ts";
import { allMutants } from "./mutants.ts";
import { reasonFor } from "./survivors.ts";

// Those with a reason to survive cost a whole search each: `npm run mutants` tries them too.
const mutants = (await allMutants()).filter(({ name }) => reasonFor(name) === undefined);

it("every condition of every write, and every mistake made by hand, is among the mutants", () => {
  expect(mutants.length).toBeGreaterThan(40);
});

it.each(mutants)("$name: a schedule shows it", async ({ sabotage }) => {
  const { caughtBy } = await hunt(sabotage, 3_000);
  expect(caughtBy).toBeDefined();
});
