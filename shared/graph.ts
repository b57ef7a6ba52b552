/** Whether the nodes of a start make a graph that can run, and what follows from it. */
import { canonicalJson } from "./json.ts";
import type { Dependent, NodeCommand, Refusal } from "./model.ts";
import { referencesIn } from "./references.ts";

export type GraphNode = {
  readonly command: NodeCommand;
  readonly ordinal: number;
  /** Explicit and implied by references, each once. */
  readonly dependsOn: readonly string[];
  readonly dependents: readonly Dependent[];
  readonly hasReferences: boolean;
};

/** The graph, its nodes in the order given; or the first rule that it breaks. */
export function graphOf(commands: readonly NodeCommand[]): readonly GraphNode[] | Refusal {
  const ordinals = new Map<string, number>();
  for (const [ordinal, command] of commands.entries()) {
    if (ordinals.has(command.node_id)) {
      return {
        code: "duplicate_node",
        node: command.node_id,
        field: "node_id",
        rule: "each node_id stands once in a run",
        value: command.node_id,
      };
    }
    ordinals.set(command.node_id, ordinal);
  }
  const edges: { readonly dependsOn: readonly string[]; readonly hasReferences: boolean }[] = [];
  for (const command of commands) {
    const found = edgesOf(command, ordinals);
    if ("code" in found) return found;
    edges.push(found);
  }
  const nodes = commands.map((command, ordinal): GraphNode => {
    const dependsOn = edges[ordinal]?.dependsOn ?? [];
    return { command, ordinal, dependsOn, dependents: [], hasReferences: edges[ordinal]?.hasReferences ?? false };
  });
  return cycleIn(nodes) ?? withDependents(nodes);
}

function edgesOf(
  command: NodeCommand,
  ordinals: ReadonlyMap<string, number>,
): { readonly dependsOn: readonly string[]; readonly hasReferences: boolean } | Refusal {
  const node = command.node_id;
  for (const id of command.depends_on) {
    if (!ordinals.has(id))
      return { code: "unknown_dependency", node, field: "depends_on", rule: "must name nodes of this run", value: id };
  }
  const { references, faults } = referencesIn(command.input);
  const fault = faults[0];
  if (fault !== undefined)
    return { code: "bad_reference", node, field: "input", rule: fault.rule, value: canonicalJson(fault.value) };
  for (const reference of references) {
    if (!ordinals.has(reference.$output)) {
      return {
        code: "unknown_output",
        node,
        field: "input",
        rule: "$output must name a node of this run",
        value: reference.$output,
      };
    }
  }
  const dependsOn = [...new Set([...command.depends_on, ...references.map((reference) => reference.$output)])];
  return { dependsOn, hasReferences: references.length > 0 };
}

function withDependents(nodes: readonly GraphNode[]): readonly GraphNode[] {
  const dependents = new Map<string, Dependent[]>(nodes.map((node) => [node.command.node_id, []]));
  for (const node of nodes) {
    for (const id of node.dependsOn)
      dependents.get(id)?.push([node.command.node_id, node.dependsOn.length === 1 ? 1 : 0]);
  }
  return nodes.map((node) => ({ ...node, dependents: dependents.get(node.command.node_id) ?? [] }));
}

/** Takes away what waits for nothing until nothing is left; what is left then is, or hangs on, a cycle. */
function cycleIn(nodes: readonly GraphNode[]): Refusal | undefined {
  const waits = new Map(nodes.map((node) => [node.command.node_id, new Set(node.dependsOn)]));
  const dependents = new Map(withDependents(nodes).map((node) => [node.command.node_id, node.dependents]));
  const free = [...waits].filter(([, set]) => set.size === 0).map(([id]) => id);
  for (let id = free.pop(); id !== undefined; id = free.pop()) {
    waits.delete(id);
    for (const [dependent] of dependents.get(id) ?? []) {
      const set = waits.get(dependent);
      set?.delete(id);
      if (set?.size === 0) free.push(dependent);
    }
  }
  const stuck = waits.keys().next().value;
  if (stuck === undefined) return undefined;
  const cycle = walkBack(stuck, waits);
  return {
    code: "cycle",
    node: cycle[0] ?? stuck,
    field: "depends_on",
    rule: "a run must have no cycle",
    value: cycle.join(" <- "),
  };
}

/** Every node that is left waits for one that is left, so walking back meets a node twice. */
function walkBack(start: string, waits: ReadonlyMap<string, ReadonlySet<string>>): readonly string[] {
  const path: string[] = [];
  for (let id: string | undefined = start; id !== undefined; id = waits.get(id)?.values().next().value) {
    const seen = path.indexOf(id);
    if (seen >= 0) return [...path.slice(seen), id];
    path.push(id);
  }
  return path;
}

/** Ordinals of the nodes that nothing depends on: what the run itself waits for. */
export const sinksOf = (nodes: readonly GraphNode[]): ReadonlySet<number> =>
  new Set(nodes.filter((node) => node.dependents.length === 0).map((node) => node.ordinal));
