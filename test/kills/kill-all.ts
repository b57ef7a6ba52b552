/** Which cases there are, and their carrying out: several stacks side by side, each with one run at a time. */
import { openStage, type StackPlan, type Stage, type StagedStack } from "../chaos/stage.ts";
import { type NamedCall, namedCalls } from "./call-name.ts";
import { diamond, newRunId, type PossibleEnds } from "./diamond.ts";
import { casesOf, type KillCase, type KillResult, killOnce, proxyOf } from "./kill-case.ts";
import { killScanner, scannerCalls } from "./kill-scanner.ts";

const lanes = 4;
const isOfLanes = ({ of }: Pick<NamedCall, "of">): boolean => of !== "scanner";

const lanePlan = (place: number): StackPlan => ({
  name: `lane-${place}`,
  proxied: ["commands", "relay", "worker"],
  disabled: { scanRule: true },
});
/** Its relay never runs. */
const strandedPlan: StackPlan = {
  name: "stranded",
  proxied: ["scanner"],
  disabled: { relayMapping: true, scanRule: true },
};

export const openKillStage = (log?: string): Promise<Stage> =>
  openStage([...Array.from({ length: lanes }, (_, place) => lanePlan(place)), strandedPlan], log);

const parted = (stage: Stage): { readonly lanes: readonly StagedStack[]; readonly stranded: StagedStack } => {
  const stranded = stage.stacks.find(({ name }) => name === strandedPlan.name);
  if (stranded === undefined) throw new Error("the stage has no stack without a relay");
  return { lanes: stage.stacks.filter((stack) => stack !== stranded), stranded };
};

/** Every call of every function before and after which a case kills it, from undisturbed runs. */
export async function everyCase(stage: Stage): Promise<readonly KillCase[]> {
  const { lanes, stranded } = parted(stage);
  const [lane] = lanes;
  if (lane === undefined) throw new Error("the stage has no lane");
  await runUndisturbed(lane); // Cold functions make calls, as heartbeats, that warm ones do not.
  const runId = await runUndisturbed(lane);
  const calls = (["commands", "relay", "worker"] as const).flatMap((of) =>
    namedCalls(of, proxyOf(lane, { of }), runId),
  );
  return casesOf([...calls, ...(await scannerCalls(stranded))]);
}

async function runUndisturbed({ client, proxies, provider }: StagedStack): Promise<string> {
  for (const proxy of Object.values(proxies)) await proxy.reset();
  const runId = newRunId();
  const command = await client.startRun({ runId, nodes: diamond });
  await command.accepted({ timeoutMs: 30_000 });
  const run = await client.waitForRun(runId, { timeoutMs: 30_000 });
  if (run.status !== "SUCCEEDED") throw new Error(`an undisturbed run ended ${run.status}`);
  if (provider.calls.length === 0) throw new Error("the provider was never called");
  return runId;
}

/** In the order of the cases. @param told of each result as it comes. */
export async function killAll(
  stage: Stage,
  cases: readonly KillCase[],
  possible: PossibleEnds,
  told: (result: KillResult) => void = () => {},
): Promise<readonly KillResult[]> {
  const { lanes, stranded } = parted(stage);
  const results = new Map<KillCase, KillResult>();
  const waiting = cases.filter(isOfLanes);
  const work = async (stack: StagedStack): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const result = await killOnce(stack, next, possible);
      results.set(next, result);
      told(result);
    }
  };
  const scan = async (): Promise<void> => {
    const ofScanner = cases.filter((killCase) => !isOfLanes(killCase));
    if (ofScanner.length === 0) return;
    for (const { killCase, result } of await killScanner(stranded, ofScanner, possible)) {
      results.set(killCase, result);
      told(result);
    }
  };
  await Promise.all([...lanes.map(work), scan()]);
  return cases.flatMap((killCase) => results.get(killCase) ?? []);
}
