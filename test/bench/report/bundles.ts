/** What is deployed: the files of each function, as the stack bundles them. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { App, CfnResource } from "aws-cdk-lib";
import { z } from "zod";
import { bundle } from "../../../infra/bundle.ts";
import { projectRoot } from "../../../infra/package-root.ts";
import { LeaseholdStack } from "../../../infra/stack.ts";
import { type FunctionName, functionNames } from "./tally.ts";
import { weightsOf } from "./weigh.ts";

export type BundledFile = {
  readonly name: string;
  readonly bytes: number;
  /** Whether a cold start loads it; else it is loaded when it is first needed. */
  readonly atStart: boolean;
};
export type Weight = { readonly name: string; readonly atStartBytes: number; readonly laterBytes: number };
export type WeighedFunction = {
  readonly name: FunctionName;
  readonly files: readonly BundledFile[];
  /** The heaviest first. */
  readonly packages: readonly Weight[];
};
export type Bundles = { readonly functions: readonly WeighedFunction[] };

export type SynthesisedFunction = {
  readonly folder: string;
  /** As deployed, but that nothing has the names that only a deployment gives. */
  readonly environment: Readonly<Record<string, string>>;
};

const templateSchema = z.object({
  Resources: z.record(z.string(), z.object({ Type: z.string(), Properties: z.unknown() })),
});
const functionSchema = z.object({
  Code: z.object({ S3Key: z.string() }),
  Environment: z.object({ Variables: z.record(z.string(), z.unknown()) }),
});
const entry = "index.mjs";

/** With the tools that the package brings. @param outdir takes the whole synthesised app. */
export function synthesise(outdir: string): Readonly<Record<FunctionName, SynthesisedFunction>> {
  const app = new App({ outdir });
  const tools = join(projectRoot, "functions", "tools", "index.ts");
  const stack = new LeaseholdStack(app, "Weighed", { namespace: "bench", tools });
  const { Resources } = templateSchema.parse(app.synth().getStackByName("Weighed").template);
  const found = (name: FunctionName): SynthesisedFunction => {
    const { defaultChild } = stack.leasehold.functions[name].node;
    if (!CfnResource.isCfnResource(defaultChild)) throw new Error(`function ${name} is no resource of the stack`);
    const { Code, Environment } = functionSchema.parse(Resources[stack.getLogicalId(defaultChild)]?.Properties);
    return {
      folder: join(outdir, `asset.${Code.S3Key.replace(/\.zip$/, "")}`),
      environment: Object.fromEntries(
        Object.entries(Environment.Variables).map(([key, value]) => [
          key,
          typeof value === "string" ? value : "named-later",
        ]),
      ),
    };
  };
  return { commands: found("commands"), relay: found("relay"), worker: found("worker"), scanner: found("scanner") };
}

/** The bare handler, bundled as the stack bundles. @returns its folder. */
export function bundleBare(folder: string): string {
  mkdirSync(folder, { recursive: true });
  for (const { name, contents } of bundle({ entry: join(import.meta.dirname, "bare-handler.ts") }))
    writeFileSync(join(folder, name), contents);
  return folder;
}

export const weighBundles = (synthesised: Readonly<Record<FunctionName, SynthesisedFunction>>): Bundles => ({
  functions: functionNames.map((name) => ({ name, ...weighFolder(synthesised[name].folder) })),
});

function weighFolder(folder: string): Omit<WeighedFunction, "name"> {
  const names = readdirSync(folder).filter((name) => name.endsWith(".mjs"));
  const text = (name: string): string => readFileSync(join(folder, name), "utf8");
  const atStart = loadedWith(entry, text);
  const weights = new Map<string, { atStartBytes: number; laterBytes: number }>();
  for (const name of names) {
    for (const [owner, bytes] of weightsOf(text(name), text(`${name}.map`))) {
      const weight = weights.get(owner) ?? { atStartBytes: 0, laterBytes: 0 };
      weight[atStart.has(name) ? "atStartBytes" : "laterBytes"] += bytes;
      weights.set(owner, weight);
    }
  }
  return {
    files: names.map((name) => ({ name, bytes: Buffer.byteLength(text(name)), atStart: atStart.has(name) })),
    packages: [...weights]
      .map(([name, weight]) => ({ name, ...weight }))
      .sort((left, right) => right.atStartBytes - left.atStartBytes || right.laterBytes - left.laterBytes),
  };
}

/** The file and what it imports by name, on and on; `import()` is for later. */
function loadedWith(name: string, text: (name: string) => string): ReadonlySet<string> {
  const loaded = new Set<string>();
  const load = (one: string): void => {
    if (loaded.has(one)) return;
    loaded.add(one);
    for (const [, imported] of text(one).matchAll(/(?:\bfrom|\bimport)\s*"\.\/([^"]+\.mjs)"/g))
      if (imported !== undefined) load(imported);
  };
  load(name);
  return loaded;
}
