/** Whatever a program without types hands over: an error with the field, the rule and what came, and nothing is sent or read. */
import { expect, test } from "vitest";
import { type Client, createClient, isClientError } from "../../../client/index.ts";
import { thrownBy } from "../../support/thrown-by.ts";
import { deploymentOf } from "./deployment.ts";

const node = { nodeId: "a", tool: "noop" };
const cursor = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
/** What a program in JavaScript may write. */
type Loose = { readonly [Name in keyof Client]: (...given: unknown[]) => unknown };

type Row = readonly [call: string, act: (client: Loose) => unknown, field: string, rule: string, value: string];

const whole = "must be a whole number from 1 to 1000";
const ofEarlier = "must be one that an earlier page gave";
const rows: readonly Row[] = [
  [
    "startRun()",
    (c) => c.startRun(undefined),
    "its argument",
    "must be an object of runId, commandId, deadlineMs, nodes",
    "nothing",
  ],
  ["startRun without nodes", (c) => c.startRun({ runId: "r" }), "nodes", "must be a list of nodes", "nothing"],
  ["startRun with one node", (c) => c.startRun({ nodes: node }), "nodes", "must be a list", JSON.stringify(node)],
  [
    "startRun with a graph beside nodes",
    (c) => c.startRun({ nodes: [node], graph: {} }),
    "graph",
    "must not be there: the fields are runId, commandId, deadlineMs, nodes",
    "{}",
  ],
  [
    "startRun with a node that is none",
    (c) => c.startRun({ nodes: ["a"] }),
    "nodes.0",
    "must be an object of nodeId, tool, input, dependsOn",
    '"a"',
  ],
  [
    "startRun with a field of the wire",
    (c) => c.startRun({ nodes: [node, { ...node, depends_on: ["a"] }] }),
    "nodes.1.depends_on",
    "must not be there: the fields are nodeId, tool, input, dependsOn",
    '["a"]',
  ],
  [
    "startRun with one parent",
    (c) => c.startRun({ nodes: [{ ...node, dependsOn: "b" }] }),
    "nodes.0.dependsOn",
    "must be a list",
    '"b"',
  ],
  [
    "startRun with a time-out",
    (c) => c.startRun({ nodes: [node] }, { timeoutMs: 5 }),
    "timeoutMs",
    "must not be there: the fields are signal",
    "5",
  ],
  [
    "startRun with a controller",
    (c) => c.startRun({ nodes: [node] }, { signal: new AbortController() }),
    "signal",
    "must be an AbortSignal",
    "{}",
  ],
  [
    "cancelRun with a misspelt reason",
    (c) => c.cancelRun("r", { raeson: "x" }),
    "raeson",
    "must not be there: the fields are signal, reason, commandId",
    '"x"',
  ],
  [
    "resolveNode()",
    (c) => c.resolveNode("r", "a", undefined),
    "its argument",
    "must be an object of epoch, by, why, commandId, resolution, output, effect",
    "nothing",
  ],
  ["listRuns with a limit of 0", (c) => c.listRuns({ limit: 0 }), "limit", whole, "0"],
  ["listRuns with a limit of 1,001", (c) => c.listRuns({ limit: 1_001 }), "limit", whole, "1001"],
  ["listRuns with half a limit", (c) => c.listRuns({ limit: 1.5 }), "limit", whole, "1.5"],
  ["listRuns with a text as limit", (c) => c.listRuns({ limit: "10" }), "limit", whole, '"10"'],
  ["listRuns with rubbish", (c) => c.listRuns({ cursor: "rubbish" }), "cursor", ofEarlier, '"rubbish"'],
  [
    "listRuns with an empty cursor",
    (c) => c.listRuns({ cursor: "" }),
    "cursor",
    "must be a string that is not empty",
    '""',
  ],
  [
    "listRuns with a shard that there is not",
    (c) => c.listRuns({ cursor: cursor({ shard: 16, after: "r" }) }),
    "cursor",
    ofEarlier,
    JSON.stringify(cursor({ shard: 16, after: "r" })),
  ],
  [
    "listRuns with more than a position",
    (c) => c.listRuns({ cursor: cursor({ shard: 1, after: "r", x: 1 }) }),
    "cursor",
    ofEarlier,
    JSON.stringify(cursor({ shard: 1, after: "r", x: 1 })),
  ],
  ["listRuns of a run", (c) => c.listRuns("r"), "its argument", "must be an object of limit, cursor, signal", '"r"'],
  ["listDoubts with a number", (c) => c.listDoubts({ runId: 7 }), "runId", "must be a string", "7"],
  ["getRun of a number", (c) => c.getRun(7), "runId", "must be a string", "7"],
  [
    "getRun with a time-out",
    (c) => c.getRun("r", { timeoutMs: 1 }),
    "timeoutMs",
    "must not be there: the fields are signal",
    "1",
  ],
  ["waitForRun of nothing", (c) => c.waitForRun(undefined), "runId", "must be a string", "nothing"],
  [
    "waitForRun for less than nothing",
    (c) => c.waitForRun("r", { timeoutMs: -1 }),
    "timeoutMs",
    "must be a number of milliseconds from 0 on",
    "-1",
  ],
  [
    "waitForRun for a text",
    (c) => c.waitForRun("r", { timeoutMs: "5" }),
    "timeoutMs",
    "must be a number of milliseconds from 0 on",
    '"5"',
  ],
  [
    "waitForRun without a function",
    (c) => c.waitForRun("r", { onChange: "log" }),
    "onChange",
    "must be a function",
    '"log"',
  ],
  ["getOutput of no node", (c) => c.getOutput("r"), "nodeId", "must be a string", "nothing"],
  [
    "createClient of a name",
    () => createClient("Leasehold" as unknown as object),
    "its argument",
    "must be an object of stackName, tableName, commandsQueueUrl, valuesBucket, endpoint, region, credentials",
    '"Leasehold"',
  ],
  [
    "createClient with an empty stack",
    () => createClient({ stackName: "" }),
    "stackName",
    "must be a string that is not empty",
    '""',
  ],
  [
    "createClient with a misspelt option",
    () => createClient({ table: "t" } as object),
    "table",
    "must not be there: the fields are stackName, tableName, commandsQueueUrl, valuesBucket, endpoint, region, credentials",
    '"t"',
  ],
  [
    "createClient with both",
    () => createClient({ stackName: "S", tableName: "t" } as object),
    "stackName",
    "must not stand beside tableName or commandsQueueUrl",
    '"S"',
  ],
  [
    "createClient with a host",
    () => createClient({ endpoint: "localhost:4566" }),
    "endpoint",
    'must be a URL, such as "http://localhost:4566"',
    '"localhost:4566"',
  ],
  [
    "createClient without a region",
    () => createClient({ region: "" }),
    "region",
    "must be a string that is not empty",
    '""',
  ],
];

test.each(rows)("%s names the field, the rule and what came", async (_, act, field, rule, value) => {
  const deployment = deploymentOf({ silent: true });
  const error = await thrownBy(async () => act(deployment.client as unknown as Loose));
  expect(isClientError(error)).toBe(true);
  expect(error).toMatchObject({ code: "invalid_option", field, rule, value });
  expect(String(error)).toContain(`${field} ${rule}, got ${value}`);
  expect(deployment.sent).toEqual([]);
});

test("an option that is undefined counts as missing", async () => {
  const { client } = deploymentOf();
  const loose = client as unknown as Loose;
  expect(await loose.listRuns({ limit: undefined, cursor: undefined })).toEqual({ runs: [] });
  createClient({ stackName: undefined } as object);
});
