/** Builds the nodes of a start from tools and typed references, so that a wrong field does not compile. */
import type * as z from "zod";
import { idSchema } from "../shared/model.ts";
import { toolNameSchema } from "../shared/names.ts";
import type { NodeRequest } from "./client.ts";
import { checkMembers, invalidOption, list } from "./given.ts";
import { inputOf, type Ref, refTo, targetOf, type WithRefs } from "./reference.ts";

/** What of a tool the builder needs: its schemas for the types, its name for the start. */
export type ToolShape<Input extends z.ZodType, Output extends z.ZodType> = {
  readonly name: string;
  readonly input: Input;
  readonly output: Output;
};

/** A node of a graph, for `after`, and what its tool will return. */
export type GraphNode<Output = unknown> = { readonly nodeId: string; readonly output: Ref<Output> };

export type GraphNodeOptions = {
  /** Nodes of the same graph that must have succeeded before; those that the input refers to need not be named. */
  readonly after?: readonly Pick<GraphNode, "nodeId">[];
};

export type Graph = {
  /**
   * A node of a tool whose code is not at hand: its input is not checked here, and its output is of the type that is given.
   * The other form stands last, since of two that do not fit the compiler tells what is wrong with the last one.
   */
  node<Output = never>(nodeId: string, tool: string, input?: unknown, options?: GraphNodeOptions): GraphNode<Output>;
  /**
   * Adds a node. Any part of the input may be a reference of the fitting type; an object that merely looks like one is
   * sent as plain data.
   * @throws ClientError `invalid_option` for an id that is taken or is none, an `after` or a reference of another graph.
   */
  node<Input extends z.ZodType, Output extends z.ZodType>(
    nodeId: string,
    tool: ToolShape<Input, Output>,
    input: WithRefs<z.input<Input>>,
    options?: GraphNodeOptions,
  ): GraphNode<z.output<Output>>;
  /** The nodes so far, in the order they were added, for `startRun`. */
  readonly nodes: readonly NodeRequest[];
};

export function graph(): Graph {
  const nodes: NodeRequest[] = [];
  const ids = new Set<string>();
  const handles = new Set<object>();
  /** What references carry to say whose they are. */
  const owner = Object.freeze({});

  function node<Output = never>(
    nodeId: string,
    tool: string,
    input?: unknown,
    options?: GraphNodeOptions,
  ): GraphNode<Output>;
  function node<Input extends z.ZodType, Output extends z.ZodType>(
    nodeId: string,
    tool: ToolShape<Input, Output>,
    input: WithRefs<z.input<Input>>,
    options?: GraphNodeOptions,
  ): GraphNode<z.output<Output>>;
  function node(nodeId: string, tool: string | object, input?: unknown, options: GraphNodeOptions = {}): GraphNode {
    checkId(nodeId, ids);
    const where = `graph, node ${JSON.stringify(nodeId)}`;
    const name = toolNameOf(where, tool);
    checkMembers(where, options, { after: list });
    const dependsOn = (options.after ?? []).map((parent, index) => {
      if (!handles.has(parent)) throw invalidOption(where, `after.${index}`, "must be a node of this graph", parent);
      return parent.nodeId;
    });
    const made = inputOf(input, owner);
    if ("fault" in made) throw invalidOption(where, made.fault.field, made.fault.rule, made.fault.value);
    const handle = Object.freeze({ nodeId, output: refTo({ graph: owner, nodeId, pointer: "" }) });
    nodes.push({
      nodeId,
      tool: name,
      ...(made.input === undefined ? {} : { input: made.input }),
      ...(dependsOn.length === 0 ? {} : { dependsOn: [...new Set(dependsOn)] }),
    });
    ids.add(nodeId);
    handles.add(handle);
    return handle;
  }

  return {
    node,
    get nodes() {
      return [...nodes];
    },
  };
}

function checkId(nodeId: unknown, ids: ReadonlySet<string>): asserts nodeId is string {
  const parsed = idSchema.safeParse(nodeId);
  if (!parsed.success) {
    throw invalidOption("graph", "nodeId", parsed.error.issues[0]?.message ?? "must be an id", nodeId);
  }
  if (ids.has(parsed.data)) throw invalidOption("graph", "nodeId", "must be new in its graph", nodeId);
}

function toolNameOf(where: string, tool: unknown): string {
  const isTool = typeof tool === "object" && tool !== null && targetOf(tool) === undefined;
  const name: unknown = isTool ? Reflect.get(tool, "name") : tool;
  const parsed = toolNameSchema.safeParse(name);
  if (!parsed.success) throw invalidOption(where, "tool", "must be a tool, or the name of one", tool);
  return parsed.data;
}
