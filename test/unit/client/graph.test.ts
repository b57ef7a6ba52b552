/** The typed graph builder. What must not compile stands under `@ts-expect-error`, which tsc holds against the types. */
import { describe, expect, expectTypeOf, test } from "vitest";
import * as z from "zod";
import { graph, isClientError, present, type Ref, type StandsFor } from "../../../client/index.ts";
import { graphOf } from "../../../shared/graph.ts";
import { type NodeCommand, startRunSchema } from "../../../shared/model.ts";
import { resolveReferences } from "../../../shared/references.ts";
import { defineTool } from "../../../shared/tool.ts";
import { deploymentOf } from "./deployment.ts";

const buyVoucher = defineTool({
  name: "buy-voucher",
  input: z.strictObject({ customer: z.string(), cents: z.int(), note: z.string().optional() }),
  output: z.object({ code: z.string(), cents: z.number() }),
  effect: "read_only",
  execute: async ({ cents }) => ({ code: "V-1", cents }),
});
const sendMail = defineTool({
  name: "send-mail",
  input: z.strictObject({
    customer: z.string(),
    code: z.string(),
    lines: z.array(z.strictObject({ text: z.string(), cents: z.number().nullable() })).default([]),
    tags: z.record(z.string(), z.string()).optional(),
  }),
  output: z.object({ id: z.string() }),
  effect: "read_only",
  execute: async () => ({ id: "m" }),
});
const search = defineTool({
  name: "search",
  input: z.strictObject({}),
  output: z.object({
    hits: z.array(z.object({ title: z.string() })),
    best: z.object({ title: z.string() }).optional(),
    nearest: z.object({ title: z.string() }).nullable(),
    next: z.string().nullable(),
    counts: z.record(z.string(), z.number()),
    pair: z.tuple([z.string(), z.number()]),
    found: z.discriminatedUnion("is", [
      z.object({ is: z.literal("one"), id: z.string() }),
      z.object({ is: z.literal("none"), why: z.string() }),
    ]),
    text: z.union([z.string(), z.number()]),
    // Names that objects and promises have of their own.
    // biome-ignore lint/suspicious/noThenProperty: it is what is tested
    then: z.string(),
    constructor: z.string(),
    "a/b~c": z.string(),
    open: z.unknown(),
    any: z.any(),
  }),
  effect: "read_only",
  execute: async () => {
    throw new Error("only its types are used");
  },
});
const takeText = defineTool({
  name: "take-text",
  input: z.strictObject({ text: z.string().optional(), either: z.union([z.string(), z.number()]).optional() }),
  output: z.object({}),
  effect: "read_only",
  execute: async () => ({}),
});

const takeJson = { name: "take-json", input: z.record(z.string(), z.json()), output: z.object({}) };
const takeUnknown = { name: "take-unknown", input: z.strictObject({ any: z.unknown() }), output: z.object({}) };
const takeTags = {
  name: "take-tags",
  input: z.strictObject({ tags: z.array(z.string()) }),
  output: z.object({ tags: z.array(z.string()).readonly() }),
};

const thrownBy = (act: () => unknown): unknown => {
  try {
    act();
  } catch (error) {
    return error;
  }
  throw new Error("nothing was thrown");
};

describe("a graph of tools", () => {
  test("becomes the nodes of a start, with references written out", async () => {
    const g = graph();
    const buy = g.node("buy", buyVoucher, { customer: "ada", cents: 500 });
    const save = g.node("save", "save-code", { code: buy.output.code });
    g.node("mail", sendMail, { customer: "ada", code: buy.output.code }, { after: [save] });
    expect(g.nodes).toEqual([
      { nodeId: "buy", tool: "buy-voucher", input: { customer: "ada", cents: 500 } },
      { nodeId: "save", tool: "save-code", input: { code: { $output: "buy", pointer: "/code" } } },
      {
        nodeId: "mail",
        tool: "send-mail",
        input: { customer: "ada", code: { $output: "buy", pointer: "/code" } },
        dependsOn: ["save"],
      },
    ]);
    const { client, sent } = deploymentOf();
    await client.startRun({ runId: "order-17", nodes: g.nodes });
    const { nodes } = startRunSchema.parse(JSON.parse(sent[0] ?? ""));
    expect(dependenciesOf(nodes)).toEqual([[], ["buy"], ["save", "buy"]]);
  });

  test("gives a worker just what was meant: data stays data, references become what they stand for", () => {
    const g = graph();
    const buy = g.node("buy", buyVoucher, { customer: "ada", cents: 1 });
    const data = {
      looks: [
        { $output: "buy", pointer: "/code" },
        { $literal: 1, and: 2 },
      ],
      __proto: null,
    };
    g.node("x", "noop", { data, code: buy.output.code, whole: buy.output, deep: [{ cents: buy.output.cents }] });
    const output = { code: "V-1", cents: 5 };
    const input = JSON.parse(JSON.stringify(g.nodes[1]?.input));
    expect(resolveReferences(input, () => output)).toEqual({
      data,
      code: "V-1",
      whole: output,
      deep: [{ cents: 5 }],
    });
  });

  test("takes a whole output as a whole input", () => {
    const g = graph();
    const first = g.node<{ customer: string; cents: number }>("first", "quote");
    g.node("buy", buyVoucher, first.output);
    expect(g.nodes).toEqual([
      { nodeId: "first", tool: "quote" },
      { nodeId: "buy", tool: "buy-voucher", input: { $output: "first" } },
    ]);
  });

  test("keeps what is no JSON for the start to refuse by name", async () => {
    const g = graph();
    const buy = g.node("buy", buyVoucher, { customer: "ada", cents: 1 });
    const circle: { self?: unknown } = {};
    circle.self = circle;
    const { client } = deploymentOf();
    for (const [odd, field] of [
      [new Date(0), "input/odd"],
      [circle, "input/odd/self"],
      [undefined, "input/odd"],
    ]) {
      const own = graph();
      const first = own.node("buy", buyVoucher, { customer: "ada", cents: 1 });
      own.node("x", "noop", { odd, code: first.output.code });
      await expect(client.startRun({ nodes: own.nodes })).rejects.toMatchObject({
        code: "bad_value",
        node: "x",
        field,
      });
    }
    await expect(
      client.startRun({ nodes: [{ nodeId: "x", tool: "noop", input: { code: buy.output.code } }] }),
    ).rejects.toMatchObject({ code: "bad_value", field: "input/code" });
  });

  test("that is added to later does not change what was taken from it", () => {
    const g = graph();
    g.node("a", "noop");
    const taken = g.nodes;
    g.node("b", "noop");
    expect(taken.map(({ nodeId }) => nodeId)).toEqual(["a"]);
  });
});

const dependenciesOf = (commands: readonly NodeCommand[]) => {
  const made = graphOf(commands);
  return "length" in made ? made.map((node) => node.dependsOn) : made;
};

describe("a reference", () => {
  const g = graph();
  const { output } = g.node("search", search, {});
  const written = (reference: unknown): unknown => JSON.parse(JSON.stringify(reference));

  test.each<[string, unknown, string | undefined]>([
    ["the whole", output, undefined],
    ["a member", output.hits, "/hits"],
    ["an element", present(output.hits[0]).title, "/hits/0/title"],
    ["a member of a record", output.counts.blue, "/counts/blue"],
    ["a part of a tuple", output.pair[1], "/pair/1"],
    ["a name with a slash and a tilde", output["a/b~c"], "/a~1b~0c"],
    ["a member then", output.then, "/then"],
    ["a member constructor", output.constructor, "/constructor"],
    ["what is not known", present(output.any.a).b, "/any/a/b"],
  ])("to %s is written as a JSON Pointer", (_, reference, pointer) => {
    expect(written(reference)).toEqual({ $output: "search", ...(pointer === undefined ? {} : { pointer }) });
  });

  test("that is awaited, or returned by an async function, is itself", async () => {
    expect(written(await Promise.resolve(output.then))).toEqual({ $output: "search", pointer: "/then" });
    const made = await (async () => output)();
    expect(written(made)).toEqual({ $output: "search" });
  });

  test.each<[string, () => unknown]>([
    ["put into a text", () => `code ${output.next}`],
    ["counted with", () => Number(output.pair[1])],
    ["spread", () => ({ ...output })],
  ])("that is %s says that there is no value yet", (_, act) => {
    expect(String(thrownBy(act))).toMatch(/the output of node "search" .* must be handed on as a whole/);
  });

  test("cannot be changed", () => {
    expect(() => Object.assign(output, { next: 1 })).toThrow(TypeError);
  });
});

describe("the types", () => {
  const g = graph();
  const buy = g.node("buy", buyVoucher, { customer: "ada", cents: 500 });
  const { output } = g.node("search", search, {});
  let count = 0;
  const id = () => `n${++count}`;

  test("let nothing pass that the tool's schema would refuse for its form", () => {
    // @ts-expect-error a field that is missing
    g.node(id(), buyVoucher, { customer: "ada" });
    // @ts-expect-error a field of another type
    g.node(id(), buyVoucher, { customer: "ada", cents: "500" });
    // @ts-expect-error a field that there is not
    g.node(id(), buyVoucher, { customer: "ada", cents: 500, cent: 1 });
    // @ts-expect-error a reference to a part that there is not
    g.node(id(), sendMail, { customer: "ada", code: buy.output.kode });
    // @ts-expect-error a reference to a part of another type
    g.node(id(), sendMail, { customer: "ada", code: buy.output.cents });
    // @ts-expect-error an output as a whole that does not fit
    g.node(id(), sendMail, buy.output);
    // @ts-expect-error a field of another type, deep inside
    g.node(id(), sendMail, { customer: "ada", code: "c", lines: [{ text: "t", cents: buy.output.code }] });
    // @ts-expect-error a reference to a text where a record is wanted
    g.node(id(), sendMail, { customer: "ada", code: "c", tags: buy.output.code });
    // @ts-expect-error a node where its output is meant
    g.node(id(), sendMail, { customer: "ada", code: buy });
    // @ts-expect-error no input for a tool that needs one
    g.node(id(), buyVoucher);
    expect(count).toBe(10);
  });

  test("say what is wrong where it stands", () => {
    g.node(id(), buyVoucher, {
      customer: "ada",
      // @ts-expect-error a field of another type
      cents: "500",
    });
    g.node(id(), buyVoucher, {
      customer: "ada",
      cents: 500,
      // @ts-expect-error a field that there is not
      cent: 1,
    });
  });

  test("let a reference stand for any part, however deep", () => {
    g.node(id(), sendMail, {
      customer: "ada",
      code: buy.output.code,
      lines: [{ text: buy.output.code, cents: buy.output.cents }],
      tags: { first: buy.output.code },
    });
    g.node(id(), takeText, { either: output.text });
    g.node(id(), takeText, { either: buy.output.code });
    // @ts-expect-error a text or a number is not always a text
    g.node(id(), takeText, { text: output.text });
  });

  test("want `present` for what may not be there, also where the input may do without it", () => {
    expectTypeOf(output.best).toExtend<StandsFor<{ title: string } | undefined>>();
    // @ts-expect-error an optional member
    g.node(id(), takeText, { text: output.best.title });
    g.node(id(), takeText, { text: present(output.best).title });
    g.node(id(), takeText, { text: present(output.best.title) });
    // @ts-expect-error an element of a list
    g.node(id(), takeText, { text: output.hits[0]?.title });
    g.node(id(), takeText, { text: present(output.hits[0]).title });
    // @ts-expect-error a member of a record
    g.node(id(), takeText, { either: output.counts.blue });
    g.node(id(), takeText, { either: present(output.counts.blue) });
    // @ts-expect-error a member of one alternative
    g.node(id(), takeText, { text: output.found.id });
    g.node(id(), takeText, { text: present(output.found.id) });
    g.node(id(), takeText, { text: output.found.is });
    g.node(id(), takeText, { text: output.pair[0] });
    // @ts-expect-error the other part of the pair is a number
    g.node(id(), takeText, { text: output.pair[1] });
  });

  test("tell null from nothing: null is a value, and fits where null does", () => {
    // @ts-expect-error null is no text
    g.node(id(), takeText, { text: output.next });
    g.node(id(), sendMail, { customer: "a", code: "c", lines: [{ text: "t", cents: buy.output.cents }] });
    // @ts-expect-error a member of what may be null
    g.node(id(), takeText, { text: output.nearest.title });
    g.node(id(), takeText, { text: present(output.nearest.title) });
  });

  test("let references into what may be any JSON, or anything", () => {
    g.node(id(), takeJson, { any: { deep: [buy.output.code, { pair: output.pair }, null, 1] }, whole: buy.output });
    g.node(id(), takeUnknown, { any: { deep: [buy.output.code, { pair: output.pair }, null, 1] } });
    g.node(id(), takeUnknown, { any: buy.output });
    g.node(id(), takeUnknown, { any: null });
    g.node(id(), takeJson, output.counts);
    // @ts-expect-error a function is no JSON
    g.node(id(), takeJson, { any: () => 1 });
    // @ts-expect-error what may not be there
    g.node(id(), takeJson, { any: output.best });
  });

  test("take lists that may not be changed", () => {
    const tags: readonly string[] = ["a"];
    g.node(id(), takeTags, { tags });
    g.node(id(), takeTags, { tags: [buy.output.code, ...tags] });
    g.node(id(), takeTags, { tags: g.node(id(), takeTags, { tags }).output.tags });
    // @ts-expect-error a list of others
    g.node(id(), takeTags, { tags: output.hits });
    // @ts-expect-error a pair is no list of texts
    g.node(id(), takeTags, { tags: output.pair });
  });

  test("of a tool by name are what the program says, or anything", () => {
    const untyped = g.node(id(), "some-tool", { any: ["thing", buy.output] });
    g.node(id(), takeText, { text: present(untyped.output.a) });
    const typed = g.node<{ text: string; count: number }>(id(), "some-tool");
    expectTypeOf(typed.output.text).toEqualTypeOf<Ref<string>>();
    g.node(id(), takeText, { text: typed.output.text });
    // @ts-expect-error what the program said is held
    g.node(id(), takeText, { text: typed.output.count });
    g.node(id(), takeText, { text: present(output.any.a).b });
    // @ts-expect-error what is not known fits nowhere
    g.node(id(), takeText, { text: output.open });
  });
});

describe("what the types cannot see", () => {
  test.each<[string, (g: ReturnType<typeof graph>) => unknown, object]>([
    [
      "an id twice",
      (g) => g.node("buy", "noop"),
      { field: "nodeId", rule: "must be new in its graph", value: '"buy"' },
    ],
    ["an empty id", (g) => g.node("", "noop"), { field: "nodeId", rule: "must not be empty", value: '""' }],
    ["an id that is none", (g) => g.node(7 as unknown as string, "noop"), { field: "nodeId", value: "7" }],
    ["a tool's name that is none", (g) => g.node("x", "no op"), { field: "tool", value: '"no op"' }],
    ["no tool", (g) => g.node("x", undefined as unknown as string), { field: "tool", value: "nothing" }],
    [
      "an id where a node is meant",
      (g) => g.node("x", "noop", {}, { after: ["buy" as unknown as { nodeId: string }] }),
      { field: "after.0", rule: "must be a node of this graph", value: '"buy"' },
    ],
    [
      "a node of another graph",
      (g) => g.node("x", "noop", {}, { after: [graph().node("buy", "noop")] }),
      { field: "after.0", rule: "must be a node of this graph" },
    ],
    [
      "after that is no list",
      (g) => g.node("x", "noop", {}, { after: "buy" as unknown as [] }),
      { field: "after", rule: "must be a list" },
    ],
    [
      "an option that there is not",
      (g) => g.node("x", "noop", {}, { dependsOn: [] } as object),
      { field: "dependsOn" },
    ],
    [
      "a reference of another graph",
      (g) => g.node("x", "noop", { deep: [graph().node("buy", "noop").output.code] }),
      {
        field: "input.deep.0",
        rule: "must refer to a node of this graph, not of another one",
        value: '{"$output":"buy","pointer":"/code"}',
      },
    ],
    [
      "a reference inside of what can only be data",
      (g) => g.node("x", "noop", { data: { $literal: g.node("y", "noop").output } }),
      { field: "input.data", rule: /must hold no reference/ },
    ],
  ])("%s is refused where the node is added", (_, act, told) => {
    const g = graph();
    g.node("buy", buyVoucher, { customer: "ada", cents: 1 });
    const before = g.nodes.length;
    const error = thrownBy(() => act(g));
    expect(isClientError(error)).toBe(true);
    const { rule, ...rest } = told as { rule?: string | RegExp };
    expect(error).toMatchObject({ code: "invalid_option", ...rest });
    if (rule !== undefined) expect(error).toHaveProperty("rule", expect.stringMatching(rule));
    expect(g.nodes.filter(({ nodeId }) => nodeId === "x")).toEqual([]);
    expect(before).toBe(1);
  });
});
