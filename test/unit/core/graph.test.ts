import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type GraphNode, graphOf, sinksOf } from "../../../shared/graph.ts";
import type { NodeCommand, Refusal } from "../../../shared/model.ts";

const node = (node_id: string, depends_on: string[] = [], input: NodeCommand["input"] = {}): NodeCommand => ({
  node_id,
  tool: "work",
  input,
  depends_on,
});
const graph = (...nodes: readonly NodeCommand[]): readonly GraphNode[] => {
  const built = graphOf(nodes);
  if (!("length" in built)) expect.fail(`refused: ${JSON.stringify(built)}`);
  return built;
};
const refusal = (...nodes: readonly NodeCommand[]): Refusal => {
  const built = graphOf(nodes);
  if ("length" in built) expect.fail("a graph was made");
  return built;
};

describe("a graph that can run", () => {
  test("numbers its nodes in the order given, and knows who waits for whom", () => {
    const [d, a, b, c] = graph(node("d", ["b", "c"]), node("a"), node("b", ["a"]), node("c", ["a"]));
    expect([d, a, b, c].map((one) => one?.ordinal)).toEqual([0, 1, 2, 3]);
    expect(a?.dependents).toEqual([
      ["b", 1],
      ["c", 1],
    ]);
    expect(b?.dependents).toEqual([["d", 0]]);
    expect(d?.dependsOn).toEqual(["b", "c"]);
    expect(sinksOf([d, a, b, c].flatMap((one) => one ?? []))).toEqual(new Set([0]));
  });

  test("an edge given twice, or given and implied, is one edge, so that its node waits for one node alone", () => {
    const [a, b] = graph(node("a"), node("b", ["a", "a"], [{ $output: "a" }, { $output: "a", pointer: "/x" }]));
    expect(b?.dependsOn).toEqual(["a"]);
    expect(a?.dependents).toEqual([["b", 1]]);
  });

  test("a reference implies the edge, and marks the input as not yet known", () => {
    const [a, b, c] = graph(
      node("a"),
      node("b", [], { x: [{ $output: "a" }] }),
      node("c", [], { $literal: { $output: "b" } }),
    );
    expect(b).toMatchObject({ dependsOn: ["a"], hasReferences: true });
    expect(c).toMatchObject({ dependsOn: [], hasReferences: false });
    expect(a).toMatchObject({ hasReferences: false, dependents: [["b", 1]] });
  });

  test("every node that nothing depends on is a sink, a node alone as well", () => {
    expect(sinksOf(graph(node("a"), node("b", ["a"]), node("c", ["a"]), node("d")))).toEqual(new Set([1, 2, 3]));
  });

  test("ids that objects inherit are ids like others", () => {
    const [a, b] = graph(node("__proto__"), node("constructor", ["__proto__"]));
    expect(a?.dependents).toEqual([["constructor", 1]]);
    expect(b?.dependsOn).toEqual(["__proto__"]);
    expect(refusal(node("a", ["toString"])).code).toBe("unknown_dependency");
  });
});

describe("a graph that breaks a rule is refused with node, field and value", () => {
  test("a doubled id", () => {
    expect(refusal(node("a"), node("b"), node("a"))).toMatchObject({
      code: "duplicate_node",
      node: "a",
      field: "node_id",
      value: "a",
    });
  });

  test("a dependency on a node that is not there", () => {
    expect(refusal(node("a"), node("b", ["a", "x"]))).toMatchObject({
      code: "unknown_dependency",
      node: "b",
      field: "depends_on",
      value: "x",
    });
  });

  test("a reference to a node that is not there", () => {
    expect(refusal(node("a", [], { in: { $output: "x" } }))).toMatchObject({
      code: "unknown_output",
      node: "a",
      field: "input",
      value: "x",
    });
  });

  test("a reference that is none", () => {
    expect(refusal(node("a"), node("b", [], { in: { pointer: "/x", $output: "a", z: 1 } }))).toMatchObject({
      code: "bad_reference",
      node: "b",
      field: "input",
      value: '{"$output":"a","pointer":"/x","z":1}',
    });
  });

  test.each<[string, readonly NodeCommand[], string]>([
    ["a node that waits for itself", [node("a", ["a"])], "a <- a"],
    ["a node that refers to itself", [node("a", [], { $output: "a" })], "a <- a"],
    ["two that wait for each other", [node("a", ["b"]), node("b", ["a"])], "a <- b <- a"],
    [
      "a cycle behind a node that only hangs on it",
      [node("hangs", ["a"]), node("a", ["c"]), node("b", ["a"]), node("c", ["b"])],
      "a <- c <- b <- a",
    ],
    [
      "a cycle closed by a reference",
      [node("root"), node("a", ["root", "b"]), node("b", [], { $output: "a" })],
      "a <- b <- a",
    ],
  ])("%s is a cycle, reported with its path", (_name, nodes, path) => {
    expect(refusal(...nodes)).toMatchObject({
      code: "cycle",
      node: path.split(" ")[0],
      field: "depends_on",
      value: path,
    });
  });
});

test("a graph whose edges lead back in the order is never refused, and one more edge that closes a way always is", () => {
  const shape = fc.integer({ min: 2, max: 12 }).chain((size) =>
    fc.tuple(
      fc.constant(size),
      fc.uniqueArray(
        fc.tuple(fc.nat(size - 1), fc.nat(size - 1)).filter(([from, to]) => from < to),
        { selector: ([from, to]) => `${from},${to}`, minLength: 1 },
      ),
      fc.shuffledSubarray(
        Array.from({ length: size }, (_, index) => index),
        { minLength: size },
      ),
    ),
  );
  fc.assert(
    fc.property(shape, ([, edges, order]) => {
      const commands = order.map((index) =>
        node(
          `n${index}`,
          edges.filter(([, to]) => to === index).map(([from]) => `n${from}`),
        ),
      );
      const built = graph(...commands);
      expect(built.flatMap((one) => one.dependents)).toHaveLength(edges.length);
      const [from, to] = edges[0] ?? [0, 1];
      const closed = commands.map((one) =>
        one.node_id === `n${from}` ? { ...one, depends_on: [...one.depends_on, `n${to}`] } : one,
      );
      const found = refusal(...closed);
      const path = found.value?.split(" <- ") ?? [];
      expect(found.code).toBe("cycle");
      expect(path.at(0)).toBe(path.at(-1));
      for (const [place, id] of path.slice(0, -1).entries()) {
        expect(closed.find((one) => one.node_id === id)?.depends_on).toContain(path[place + 1]);
      }
    }),
  );
});
