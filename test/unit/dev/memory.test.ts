import { expect, test } from "vitest";
import { devMemory } from "../../../cli/dev/memory.ts";
import { runKey } from "../../../shared/keys.ts";

test("a run that is forgotten is found by no later look, and the others are", async () => {
  const memory = devMemory();
  const told: unknown[] = [];
  memory.listen((item) => told.push(item.kind));
  for (const runId of ["old", "new"])
    await memory.table.write({ op: "put", name: "run", key: runKey(runId), item: { kind: "run" }, conditions: [] });
  memory.forget("old");
  expect(await memory.table.get(runKey("old"))).toBeUndefined();
  expect(await memory.table.get(runKey("new"))).toMatchObject({ kind: "run" });
  expect(told).toEqual(["run", "run"]);
});
