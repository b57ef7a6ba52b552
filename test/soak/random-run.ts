/** Small random runs: quick, slow, retrying and failing nodes, some cancelled and some with a deadline that they cannot keep. */
import { randomUUID } from "node:crypto";
import type { NodeRequest } from "../../client/client.ts";
import type { Seeded } from "../../testing/seeded.ts";

export type SoakRun = {
  readonly runId: string;
  readonly nodes: readonly NodeRequest[];
  readonly deadlineMs?: number;
  /** Cancelled so long after it was seen to be there. */
  readonly cancelAfterMs?: number;
};

const mostNodes = 7;
/** Each as often as it is to be chosen. */
const tools = [
  ...Array.from({ length: 10 }, () => "ledger"),
  ...["long", "long", "long", "retrying", "retrying", "failing", "finishing"],
];

function inputOf(tool: string, random: Seeded): object {
  if (tool === "long" || tool === "finishing") return { ms: random.below(2_500) };
  return tool === "retrying" ? { afterMs: 100 + random.below(1_500) } : {};
}

export function randomRun(random: Seeded): SoakRun {
  const ids = Array.from({ length: 1 + random.below(mostNodes) }, (_, place) => `n${place}`);
  const nodes = ids.map((nodeId, place): NodeRequest => {
    const tool = random.pick(tools);
    const needed = Array.from({ length: random.below(3) }, () => ids[random.below(Math.max(1, place))] ?? "n0");
    return { nodeId, tool, input: inputOf(tool, random), dependsOn: place === 0 ? [] : [...new Set(needed)] };
  });
  return {
    runId: `soak-${randomUUID()}`,
    nodes,
    ...(random.chance(0.05) ? { deadlineMs: 1_500 + random.below(4_000) } : {}),
    ...(random.chance(0.1) ? { cancelAfterMs: random.below(4_000) } : {}),
  };
}
