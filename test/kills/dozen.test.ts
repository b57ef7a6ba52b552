/** A dozen of the cases of `npm run test:kills`: of each function those whose repair differs most. */
import { afterAll, expect, it } from "vitest";
import { simulatedEnds } from "./diamond.ts";
import { killAll, openKillStage } from "./kill-all.ts";
import type { KillCase } from "./kill-case.ts";

const dozen: readonly KillCase[] = [
  { of: "commands", name: "TransactWriteItems: start RUN", nth: 1, when: "before" },
  { of: "commands", name: "TransactWriteItems: start RUN", nth: 1, when: "after" },
  { of: "worker", name: "UpdateItem: claim NODE#a", nth: 1, when: "before" },
  { of: "worker", name: "UpdateItem: claim NODE#d", nth: 1, when: "after" },
  { of: "worker", name: "TransactWriteItems: commit NODE#b", nth: 1, when: "before" },
  { of: "worker", name: "TransactWriteItems: commit NODE#d", nth: 1, when: "after" },
  { of: "relay", name: "SendMessageBatch: a", nth: 1, when: "before" },
  { of: "relay", name: "UpdateItem: advance NODE#d", nth: 2, when: "after" },
  { of: "relay", name: "UpdateItem: make READY NODE#d", nth: 1, when: "after" },
  { of: "relay", name: "SendMessageBatch: d", nth: 1, when: "after" },
  { of: "scanner", name: "SendMessageBatch: b,c", nth: 1, when: "after" },
  { of: "scanner", name: "UpdateItem: make READY NODE#d", nth: 1, when: "after" },
];

const stage = await openKillStage();
afterAll(() => stage.stop());

it("a process killed before or after a call leaves a run that ends as in the simulation, each effect once", async () => {
  const results = await killAll(stage, dozen, await simulatedEnds());
  const wrong = results
    .filter(({ faults }) => faults.length > 0)
    .map(({ of, name, when, faults }) => `${of} killed ${when} ${name}: ${faults.join("; ")}`);
  expect(wrong).toEqual([]);
  expect(results).toHaveLength(dozen.length);
});
