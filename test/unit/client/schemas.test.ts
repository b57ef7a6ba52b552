/** The JSON Schemas say what zod says, and docs/messages.md what both say. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type * as z from "zod";
import { jsonSchemas, type SchemaName } from "../../../client/index.ts";
import { writeSchemas } from "../../../client/schemas.ts";
import { tools } from "../../../functions/tools/index.ts";
import { rejectionMessages } from "../../../shared/adapters/rejection-messages.ts";
import { defaultLimits } from "../../../shared/limits.ts";
import {
  cancelRunSchema,
  commandItemSchema,
  dispatchSchema,
  refusalSchema,
  resolveNodeSchema,
  startRunSchema,
} from "../../../shared/model.ts";
import { putAnswer, startRun } from "../../../shared/start.ts";
import { acceptsAll, deploymentOf, refusesAll } from "./deployment.ts";
import { faultsOf, membersOf } from "./json-schema.ts";

const root = join(import.meta.dirname, "../../..");
const page = readFileSync(join(root, "docs/messages.md"), "utf8");
const names = Object.keys(jsonSchemas) as SchemaName[];
const zodSchemas: { readonly [Name in SchemaName]?: z.ZodType } = {
  start_run: startRunSchema,
  cancel_run: cancelRunSchema,
  resolve_node: resolveNodeSchema,
  dispatch: dispatchSchema,
  answer: commandItemSchema,
  refusal: refusalSchema,
};

/** What stands under a name's heading. */
const sectionOf = (name: string): string =>
  page.split(/^## /m).find((section) => section.startsWith(`\`${name}\`\n`)) ?? "";

const exampleOf = (name: string): unknown => JSON.parse(/```json\n(.*?)```/s.exec(sectionOf(name))?.[1] ?? "");
const fieldsOf = (name: string): readonly string[] =>
  [...sectionOf(name).matchAll(/^\| (`[^|]+`) \|/gm)].flatMap(([, cell = ""]) =>
    [...cell.matchAll(/`([^`]+)`/g)].map(([, field = ""]) => field.replace(/^.*\./, "")),
  );

describe.each(names)("docs/messages.md on %s", (name) => {
  test("has an example that the JSON Schema and zod take", () => {
    const example = exampleOf(name);
    expect(faultsOf(jsonSchemas[name], example)).toEqual([]);
    expect(zodSchemas[name]?.safeParse(example).error).toBeUndefined();
  });

  test("names every field of the schema", () => {
    const section = sectionOf(name);
    expect(
      membersOf(jsonSchemas[name]).filter(
        (member) => !section.includes(`\`${member}\``) && !fieldsOf(name).includes(member),
      ),
    ).toEqual([]);
  });

  test("has no row for a field that there is not", () => {
    const table = name === "refusal" ? fieldsOf(name).slice(0, 5) : fieldsOf(name);
    expect(table.length).toBeGreaterThan(0);
    expect(table.filter((field) => !membersOf(jsonSchemas[name]).includes(field))).toEqual([]);
  });
});

test("the start in docs/messages.md is accepted as it stands by a deployment with the shipped tools", async () => {
  const command = startRunSchema.parse(exampleOf("start_run"));
  const deployed = new Map(tools.map((tool) => [tool.name, tool]));
  const start = { command, commandId: "c-1", tools: deployed, limits: defaultLimits, nowMs: 0, generation: "g" };
  expect(await startRun(start)).toHaveLength(command.nodes.length + 3);
});

describe("docs/messages.md on refusals", () => {
  const source = ["command", "graph", "start", "resolve"]
    .map((file) => readFileSync(join(root, `shared/${file}.ts`), "utf8"))
    .join("\n");
  const given = new Set(
    [...source.matchAll(/(?:\bcode: |refusedBecause\(\s*)"([a-z_]+)"/g)]
      .map(([, code = ""]) => code)
      // What is stored of a node, and no refusal of a command.
      .filter((code) => code !== "resolved"),
  );
  const rows = new Map(
    [...sectionOf("refusal").matchAll(/^\| `([a-z_]+)` \| ([^|]+) \| [^|]+ \|$/gm)].map(([, code = "", of = ""]) => [
      code,
      of,
    ]),
  );
  const codes = [...rows].filter(([, of]) => !of.startsWith("text")).map(([code]) => code);

  test("lists every code that a command may be refused with, and no other", () => {
    expect(codes.sort()).toEqual([...given].sort());
    expect(codes.length).toBeGreaterThan(15);
  });

  test.each(["start_run", "cancel_run", "resolve_node"])("names under %s the codes that the list gives it", (name) => {
    const section = sectionOf(name);
    const own = [...rows].filter(([code, of]) => codes.includes(code) && (of.includes(name) || of.trim() === "any"));
    expect(own.length).toBeGreaterThan(3);
    const missing = own.filter(([code]) => !section.includes(`\`${code}\``)).map(([code]) => code);
    expect(missing).toEqual(["command_id_taken"]);
  });
});

describe("a JSON Schema", () => {
  test.each(names)("of %s is of draft 2020-12, and has a title and a description", (name) => {
    expect(jsonSchemas[name]).toMatchObject({
      $schema: "https://json-schema.org/draft/2020-12/schema",
      title: expect.stringMatching(/./),
      description: expect.stringMatching(/./),
    });
  });

  test("says in words what it cannot express", () => {
    const { properties = {} } = jsonSchemas.start_run;
    expect(properties.run_id).toMatchObject({ description: expect.stringMatching(/256 bytes .* control characters/) });
    expect(JSON.stringify(jsonSchemas.start_run)).toMatch(/no whole number beyond 2\^53/);
    expect(JSON.stringify(jsonSchemas.cancel_run)).toMatch(/UTF-16 code units/);
  });

  const start = { type: "start_run", run_id: "r", nodes: [{ node_id: "a", tool: "noop" }] };
  const resolution = { type: "resolve_node", run_id: "r", node_id: "a", epoch: 1, by: "b", why: "w" };
  test.each<[SchemaName, string, unknown]>([
    ["start_run", "no run id", { type: "start_run", nodes: start.nodes }],
    ["start_run", "an unknown field", { ...start, priority: 1 }],
    ["start_run", "no nodes", { ...start, nodes: [] }],
    ["start_run", "an empty id", { ...start, run_id: "" }],
    ["start_run", "an id of 257 characters", { ...start, run_id: "x".repeat(257) }],
    ["start_run", "a node's unknown field", { ...start, nodes: [{ node_id: "a", tool: "noop", after: [] }] }],
    ["start_run", "a tool's name with a space", { ...start, nodes: [{ node_id: "a", tool: "no op" }] }],
    ["start_run", "a deadline of half a millisecond", { ...start, deadline_ms: 0.5 }],
    ["start_run", "a deadline beyond a year", { ...start, deadline_ms: 366 * 86_400_000 }],
    ["cancel_run", "a reason that is too long", { type: "cancel_run", run_id: "r", reason: "x".repeat(257) }],
    ["cancel_run", "another type", { type: "start_run", run_id: "r" }],
    ["resolve_node", "no resolution", resolution],
    ["resolve_node", "no output where it succeeded", { ...resolution, resolution: "succeeded" }],
    ["resolve_node", "an output where it was not done", { ...resolution, resolution: "not_done", output: 1 }],
    ["resolve_node", "an effect that there is not", { ...resolution, resolution: "failed", effect: "some" }],
    ["dispatch", "another dispatch id", { run_id: "r", node_id: "a", dispatch_id: "d-01" }],
    ["dispatch", "one field more", { run_id: "r", node_id: "a", dispatch_id: "d-1", attempt: 1 }],
  ])("of %s refuses %s, as zod does", (name, _, value) => {
    expect(faultsOf(jsonSchemas[name], value)).not.toEqual([]);
    expect(zodSchemas[name]?.safeParse(value).success).toBe(false);
  });

  test.each<[SchemaName, unknown]>([
    ["start_run", start],
    ["cancel_run", { type: "cancel_run", run_id: "r" }],
    ["resolve_node", { ...resolution, resolution: "failed" }],
    ["resolve_node", { ...resolution, resolution: "succeeded", output: null }],
  ])("of %s takes %j, in which all that may be missing is", (name, value) => {
    expect(faultsOf(jsonSchemas[name], value)).toEqual([]);
    expect(zodSchemas[name]?.safeParse(value).success).toBe(true);
  });

  test("takes what a deployment really writes: an answer, an acceptance, a refusal, a rejection", async () => {
    const named = { commandId: "c", type: "start_run", contentHash: "h", nowMs: 5, limits: defaultLimits };
    const { key, item } = putAnswer({ ...named, answer: { outcome: "refused", refusal: "{}" } });
    expect(faultsOf(jsonSchemas.answer, { ...key, ...item })).toEqual([]);

    const accepting = await deploymentOf(acceptsAll).client.startRun({ nodes: [{ nodeId: "a", tool: "noop" }] });
    expect(faultsOf(jsonSchemas.accepted, await accepting.accepted())).toEqual([]);

    const refusal = { code: "cycle", node: "a", field: "depends_on", rule: "no cycle", value: "a <- a" };
    const refusing = await deploymentOf(refusesAll(refusal)).client.cancelRun("r");
    const error: unknown = await refusing.accepted().catch((thrown: unknown) => thrown);
    expect(error).toMatchObject(refusal);
    expect(faultsOf(jsonSchemas.refusal, refusal)).toEqual([]);

    for (const body of ["plain", "\u0000", "x".repeat(1_100_000)]) {
      for (const message of rejectionMessages({ body, source: "commands", reason: "why" }, "id")) {
        const attributes = Object.entries(message.attributes).map(([name, value]) => [
          name,
          { DataType: "String", StringValue: value },
        ]);
        const received = { Body: message.body, MessageAttributes: Object.fromEntries(attributes) };
        expect(faultsOf(jsonSchemas.rejected, received)).toEqual([]);
        const known = membersOf(jsonSchemas.rejected);
        expect(Object.keys(message.attributes).filter((name) => !known.includes(name))).toEqual([]);
      }
    }
  });
});

test("the build writes one file for each schema, which reads back as that schema", async () => {
  const folder = mkdtempSync(join(tmpdir(), "leasehold-schemas-"));
  try {
    await writeSchemas(join(folder, "schemas"));
    const written = readdirSync(join(folder, "schemas")).sort();
    expect(written).toEqual(names.map((name) => `${name}.json`).sort());
    for (const name of names) {
      const text = readFileSync(join(folder, "schemas", `${name}.json`), "utf8");
      expect(JSON.parse(text)).toEqual(jsonSchemas[name]);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});
