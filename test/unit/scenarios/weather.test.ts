/** Public reports of faults (docs/scenarios.md) tried in the simulation, each under the checker of every invariant. */
import { expect, test } from "vitest";
import { startMs } from "../../../testing/engine.ts";
import { type ChooseFault, noFaults } from "../../../testing/faults.ts";
import { calmWeather, type Weather } from "../../../testing/weather.ts";
import { type Scenario, type ScenarioNode, scenarioNamed } from "../../simulation/scenarios.ts";
import { runSchedule } from "../../simulation/schedule.ts";

const minutes = (count: number): number => count * 60_000;
const nodeOf = (node_id: string, tool = "act", ...depends_on: string[]): ScenarioNode => ({
  node_id,
  tool,
  depends_on,
  input: {},
});
const many = (count: number): readonly ScenarioNode[] =>
  Array.from({ length: count }, (_, index) => nodeOf(`n${index}`));
const joined = (parents: readonly ScenarioNode[]): readonly ScenarioNode[] => [
  ...parents,
  nodeOf("join", "act", ...parents.map((parent) => parent.node_id)),
];
const run = (scenario: Scenario, part: { choose?: ChooseFault; weather?: Partial<Weather> } = {}) =>
  runSchedule({
    scenario,
    seed: 1,
    choose: part.choose ?? noFaults,
    weather: { ...calmWeather, ...part.weather },
  });
/** The first calls that fit are struck. */
const first = (count: number, fits: ChooseFault): ChooseFault => {
  let left = count;
  return (call) => {
    const fault = left > 0 ? fits(call) : undefined;
    if (fault !== undefined) left -= 1;
    return fault;
  };
};

test("a message that is lost before any worker took it costs no attempt: the scanner sends it again (BUG-023)", async () => {
  let sends = 0;
  const lostOnce = () => (sends++ < 20 ? [] : [0]);
  const verdict = await run({ name: "lost", nodes: many(20) }, { weather: { arrivals: lostOnce } });
  expect(verdict).toMatchObject({ violations: [], status: "SUCCEEDED" });
  expect([...verdict.states].filter((state) => state.startsWith("SUCCEEDED"))).toEqual(["SUCCEEDED/1/done"]);
});

test("a straight graph of 40 nodes ends, however often functions and queues call each other (BUG-034)", async () => {
  const nodes = many(40).map((node, index) => (index === 0 ? node : { ...node, depends_on: [`n${index - 1}`] }));
  expect(await run({ name: "chain-40", nodes })).toMatchObject({ violations: [], status: "SUCCEEDED" });
});

test("a relay and a scanner that stand still for 20 minutes make no second effect when they go on (BUG-050)", async () => {
  const isOn: Weather["isOn"] = (kind, nowMs) =>
    (kind !== "relay" && kind !== "scanner") || nowMs >= startMs + minutes(20);
  const verdict = await run({ name: "late", nodes: joined(many(5)) }, { weather: { isOn } });
  expect(verdict).toMatchObject({ violations: [], status: "SUCCEEDED" });
  expect(verdict.tookMs).toBeGreaterThan(minutes(20));
});

test("nodes whose deadline passed while nobody carried their messages are EXPIRED and never run (BUG-050, BUG-207)", async () => {
  const isOn: Weather["isOn"] = (kind, nowMs) =>
    (kind !== "relay" && kind !== "scanner") || nowMs >= startMs + minutes(20);
  const scenario = { name: "too-late", nodes: [nodeOf("a"), nodeOf("b", "act", "a")], deadlineMs: minutes(5) };
  const verdict = await run(scenario, { weather: { isOn } });
  expect(verdict).toMatchObject({ violations: [], status: "EXPIRED" });
  expect([...verdict.states].sort()).toEqual(["EXPIRED/0/none", "PENDING/0/", "READY/0/", "SKIPPED/0/none"]);
});

test("50 siblings that end together, their writes in conflict, all succeed and make their join READY once (BUG-074)", async () => {
  const conflicts = first(200, ({ port }) =>
    port === "write" || port === "transact" ? { kind: "busy", ms: 0 } : undefined,
  );
  const verdict = await run({ name: "join-50", nodes: joined(many(50)) }, { choose: conflicts });
  expect(verdict).toMatchObject({ violations: [], status: "SUCCEEDED" });
  expect(verdict.struck).toHaveLength(200);
  expect([...verdict.states].filter((state) => state.startsWith("SUCCEEDED"))).toEqual(["SUCCEEDED/1/done"]);
});

test.each([1, -1])(
  "clocks that differ by four minutes, %i for which side, cost time or a fenced take-over and no second effect (BUG-087)",
  async (side) => {
    let invocations = 0;
    const clockOffsetMs = () => (invocations++ % 2 === 0 ? 0 : side * minutes(4));
    const weather = { clockOffsetMs, arrivals: () => [0, 5_000] };
    const states = new Set<string>();
    for (const scenario of [scenarioNamed("slow"), scenarioNamed("diamond")]) {
      const verdict = await run(scenario, { weather });
      expect(verdict).toMatchObject({ violations: [], status: "SUCCEEDED" });
      expect(verdict.tookMs).toBeLessThan(minutes(30));
      for (const state of verdict.states) states.add(state);
    }
    // Only a clock that is ahead sees a living lease as ended.
    if (side > 0) expect([...states]).toContain("RUNNING/2/");
  },
);

test("a worker cut off from the table for two minutes loses its lease, and the node goes on without a person (BUG-097)", async () => {
  let began = false;
  let cutOff = 30;
  const cut: ChooseFault = ({ process, port, what }) => {
    if (process !== "worker") return undefined;
    if (port === "write" && what === "heartbeat") began = true;
    return began && cutOff-- > 0 && port !== "tool" ? { kind: "error", ms: 0 } : undefined;
  };
  const verdict = await run(scenarioNamed("slow"), { choose: cut });
  expect(verdict).toMatchObject({ violations: [], status: "SUCCEEDED" });
  expect(verdict.struck.length).toBeGreaterThan(5);
  expect([...verdict.states]).toContain("RUNNING/2/");
});

test("two scanners at the same time, with no relay at all, send more messages and run nothing twice (BUG-138, BUG-140)", async () => {
  const weather = { scanners: 2, isOn: (kind: string) => kind !== "relay" };
  const verdict = await run({ name: "scanned", nodes: joined(many(30)) }, { weather });
  expect(verdict).toMatchObject({ violations: [], status: "SUCCEEDED" });
  expect([...verdict.states].filter((state) => state.startsWith("SUCCEEDED"))).toEqual(["SUCCEEDED/1/done"]);
});

test("messages taken away while their owners work, and the owners then killed, are sent again by the scanner (BUG-194, BUG-196)", async () => {
  const killed = first(3, ({ process, port, what }) =>
    process === "worker" && port === "transact" && what === "end_succeeded"
      ? { kind: "crash_before", ms: 0 }
      : undefined,
  );
  const verdict = await run(
    { name: "robbed", nodes: joined(many(3)) },
    { choose: killed, weather: { purgeAtMs: startMs + 150 } },
  );
  expect(verdict).toMatchObject({ violations: [], status: "SUCCEEDED" });
  expect(verdict.struck).toHaveLength(3);
  expect([...verdict.states]).toContain("SUCCEEDED/2/done");
});

test("a hundred claims and commits, every other answer lost, are each known by their own mark: one attempt each (BUG-066, BUG-067)", async () => {
  const calls = new Map<string, number>();
  const lost: ChooseFault = ({ process, port, what }) => {
    if (process !== "worker" || (what !== "claim" && what !== "end_succeeded")) return undefined;
    const call = (calls.get(port) ?? 0) + 1;
    calls.set(port, call);
    return call % 2 === 1 ? { kind: "lost_reply", ms: 0 } : undefined;
  };
  const verdict = await run({ name: "deaf", nodes: many(100), madeAtOnce: true }, { choose: lost });
  expect(verdict).toMatchObject({ violations: [], status: "SUCCEEDED" });
  expect(verdict.struck.length).toBeGreaterThanOrEqual(200);
  expect([...verdict.states].sort()).toEqual(["READY/0/", "RUNNING/1/", "SUCCEEDED/1/done"]);
});

test("one node's messages under many ids, the relay's and the scanner's, are one operation (BUG-012)", async () => {
  const verdict = await run(scenarioNamed("diamond"), { weather: { arrivals: () => [0, 0, 30, 500, 70_000] } });
  expect(verdict).toMatchObject({ violations: [], status: "SUCCEEDED" });
});

test("a join whose one parent succeeds on its third attempt is made READY after that (BUG-213)", async () => {
  const nodes = joined([nodeOf("a"), nodeOf("b", "retries"), nodeOf("c")]);
  expect(await run({ name: "late-parent", nodes })).toMatchObject({ violations: [], status: "SUCCEEDED" });
});

test("a retry whose sender dies after its commit, each time, is one node with one effect (BUG-219)", async () => {
  const killed = first(3, ({ process, port, what }) =>
    process === "worker" && port === "transact" && what === "retry" ? { kind: "crash_after", ms: 0 } : undefined,
  );
  const verdict = await run(scenarioNamed("retry"), { choose: killed, weather: { arrivals: () => [0, 0, 2_000] } });
  expect(verdict).toMatchObject({ violations: [], status: "SUCCEEDED" });
  expect(verdict.struck.length).toBeGreaterThan(1);
});
