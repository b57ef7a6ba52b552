/**
 * What a stack asks of its modules of tools before it is deployed: the same that the functions would ask at their start, when
 * it is too late. It runs in a process of its own, with no environment.
 */
import { describeError } from "../shared/errors.ts";
import { fixed, type Limits } from "../shared/limits.ts";
import { type ListedTool, listedTool } from "../shared/listed-tool.ts";
import { onlyPool } from "../shared/pools.ts";
import { type AnyTool, toolTable } from "../shared/tool.ts";

export type ToolsModule = {
  /** The prop that names it. */
  readonly field: string;
  /** As its writer would find it. */
  readonly path: string;
  /** Missing for the main module. */
  readonly pool?: string;
  readonly limits: Limits;
  readonly load: () => Promise<unknown>;
};

/** @throws Error that names the prop, the module, the tool where it is one, and the rule that is broken. */
export async function toolsReport(modules: readonly ToolsModule[]): Promise<readonly ListedTool[]> {
  const all: AnyTool[] = [];
  const origins = new Map<string, string>();
  for (const module of modules) {
    for (const tool of await toolsOf(module)) {
      const other = origins.get(tool.name);
      if (other !== undefined)
        throw faultOf(module, `tool ${JSON.stringify(tool.name)}: name must be unique, ${other} has one of this name`);
      all.push(tool);
    }
    for (const { name } of all) if (!origins.has(name)) origins.set(name, module.path);
  }
  if (all.length > fixed.tools)
    throw new Error(
      `tools: at most ${fixed.tools} in one deployment, got ${all.length} of ${modules.map(({ path }) => path).join(", ")}`,
    );
  return all.map(listedTool);
}

async function toolsOf(module: ToolsModule): Promise<readonly AnyTool[]> {
  const exported = await module.load().catch((error: unknown) => {
    const { name, message } = describeError(error);
    throw faultOf(module, `must be importable without any environment, got ${name}: ${message}`);
  });
  const tools = listIn(exported);
  if (tools === undefined) throw faultOf(module, "must export a list tools of what defineTool returned");
  const stranger = tools.findIndex((tool) => typeof tool !== "object" || tool === null);
  if (stranger >= 0)
    throw faultOf(module, `tools[${stranger}] must be what defineTool returned, got ${typeof tools[stranger]}`);
  try {
    // Whether they are tools is what the table finds out.
    return [...toolTable(tools as readonly AnyTool[], onlyPool(module.pool, module.limits)).values()];
  } catch (error) {
    throw faultOf(module, error instanceof Error ? error.message : String(error));
  }
}

function listIn(exported: unknown): readonly unknown[] | undefined {
  const tools: unknown = typeof exported === "object" && exported !== null ? Reflect.get(exported, "tools") : undefined;
  return Array.isArray(tools) ? tools : undefined;
}

const faultOf = ({ field, path }: ToolsModule, rule: string): Error => new Error(`${field} (${path}): ${rule}`);
