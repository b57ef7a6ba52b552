/** `npm run build`: what the package holds besides its manifest and its pages. `npm pack` runs it first. */
import { chmod, copyFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { runProgram } from "../cli/local/run-program.ts";
import { projectRoot } from "../cli/local/workspace.ts";
import { writeSchemas } from "../client/schemas.ts";
import { prebuildShipped } from "../infra/bundle.ts";

const dist = join(projectRoot, "dist");

/** What the compiler does not see. */
const copied = [
  ["cli", "local", "follow-parent.py"],
  ["cli", "local", "ministack-constraints.txt"],
] as const;

async function compile(): Promise<void> {
  const compiler = join(projectRoot, "node_modules", "typescript", "bin", "tsc");
  await runProgram(process.execPath, [compiler, "--project", join(projectRoot, "tsconfig.build.json")], {
    cwd: projectRoot,
    env: process.env,
  });
}

// What was renamed since must not be packed.
await rm(dist, { recursive: true, force: true });
await compile();
for (const path of copied) await copyFile(join(projectRoot, ...path), join(dist, ...path));
await chmod(join(dist, "cli", "leasehold.js"), 0o755);
prebuildShipped(join(dist, "lambda"));
await writeSchemas(join(dist, "schemas"));
