/** The module of tools that the bundler puts in (an esbuild alias); the same one for commands and worker. */
declare module "leasehold-tools" {
  import type { AnyTool } from "../shared/tool.ts";
  export const tools: readonly AnyTool[];
}
