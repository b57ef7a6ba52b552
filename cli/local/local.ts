/** `leasehold local`: a local AWS with an app on it, until Ctrl-C. */
import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { cdkProgram, checkConstructs } from "./cdk-program.ts";
import { type DeployedOutputs, type DeployOptions, deploy } from "./deploy.ts";
import { asExports, asWord, localAwsEnv, stackEnvs } from "./local-env.ts";
import { startMinistack } from "./ministack.ts";
import { isSource, makeWorkspace, projectRoot, workspace } from "./workspace.ts";

export type LocalOptions = {
  /** Module of tools, for the package's own stack. @default the app of the folder's cdk.json is deployed instead */
  readonly tools?: string;
  /** Command that runs the CDK app. @default the one of cdk.json */
  readonly app?: string;
  /** For the app, as `cdk deploy -c name=value` gives it. */
  readonly context: Readonly<Record<string, string>>;
};

type Output = { write(text: string): unknown };

export type LocalWorld = {
  readonly stdout: Output;
  readonly stderr: Output;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Ends it. */
  readonly signal?: AbortSignal;
};

/** 130 is what shells give a program that Ctrl-C has ended before it had done its work. */
const exitCodes = { done: 0, failed: 1, interrupted: 130 } as const;

/**
 * Deploys to the local AWS that AWS_ENDPOINT_URL names and returns; without one it starts MiniStack, and returns when the
 * signal aborts. What programs must know to find it is printed and written to `.leasehold/local.env`.
 */
export async function runLocal(options: LocalOptions, world: LocalWorld): Promise<number> {
  try {
    const app = appOf(options);
    const given = world.environment.AWS_ENDPOINT_URL;
    if (given !== undefined && given !== "") await deployOn(given, app, options, world);
    else await runUntilAborted(app, options, world);
    return exitCodes.done;
  } catch (error) {
    if (world.signal?.aborted) return exitCodes.interrupted;
    world.stderr.write(`${error instanceof Error ? error.message : error}\n`);
    return exitCodes.failed;
  }
}

type App = Pick<DeployOptions, "folder" | "app" | "context">;

/** @throws Error that names the option, its rule and what came. */
function appOf({ tools, app }: LocalOptions): App {
  const folder = process.cwd();
  // Asked here so that it fails before an AWS has been started.
  cdkProgram(folder);
  if (tools !== undefined) {
    if (app !== undefined) throw new Error(`--tools must not stand beside --app, got ${JSON.stringify(app)}`);
    const module = resolve(tools);
    if (!existsSync(module))
      throw new Error(`--tools must be the path of an existing module, got ${JSON.stringify(tools)}`);
    checkConstructs(projectRoot);
    // From the package's folder, since its cdk.json has the feature flags that the stack was tested with.
    return { folder: projectRoot, app: ownApp, context: { tools: module } };
  }
  if (app === undefined && !existsSync(join(folder, "cdk.json")))
    throw new Error(`without --tools or --app there must be a cdk.json in the folder, got none in ${folder}`);
  return { folder, ...(app === undefined ? {} : { app }) };
}

/** As it is called in the package's folder; a path of this machine would need quotes, which the CDK's command line drops. */
const ownApp = isSource ? "node --import tsx infra/app.ts" : "node dist/infra/app.js";

async function deployOn(endpoint: string, app: App, options: LocalOptions, world: LocalWorld): Promise<void> {
  const outputs = await deploy({
    endpoint,
    ...app,
    context: { removable: "true", ...app.context, ...options.context },
    show: (text) => world.stderr.write(text),
    environment: world.environment,
    ...(world.signal === undefined ? {} : { signal: world.signal }),
  });
  const [first, ...others] = envFilesOf(endpoint, outputs);
  for (const { path, text } of [first, ...others]) await writeFile(path, text);
  const more = others.map(({ name, path }) => `${name}: . ${asWord(path)}\n`);
  world.stdout.write(`\n${first.text}\nThe same is in ${first.path}: . ${asWord(first.path)}\n${more.join("")}`);
}

type EnvFile = { readonly path: string; readonly text: string; readonly name?: string };

/** The first is there in any case; each further Leasehold of the app has a file of its own. */
function envFilesOf(endpoint: string, outputs: DeployedOutputs): readonly [EnvFile, ...EnvFile[]] {
  const found = Object.entries(outputs)
    .flatMap(([stack, values]) => stackEnvs(stack, values))
    .map(({ name, env }) => ({ name, text: asExports({ ...localAwsEnv(endpoint), ...env }) }));
  const [first, ...others] = found;
  return [
    { path: join(workspace, "local.env"), text: first?.text ?? asExports(localAwsEnv(endpoint)) },
    ...others.map((each) => ({ ...each, path: join(workspace, `local-${each.name}.env`) })),
  ];
}

async function runUntilAborted(app: App, options: LocalOptions, world: LocalWorld): Promise<void> {
  await makeWorkspace();
  const log = join(workspace, "ministack.log");
  const local = await startMinistack({ log });
  try {
    world.signal?.throwIfAborted();
    world.stderr.write(`local AWS at ${local.endpoint}, log in ${log}\n`);
    await deployOn(local.endpoint, app, options, world);
    world.stdout.write("Local AWS runs until Ctrl-C.\n");
    await aborted(world.signal);
  } finally {
    await local.stop();
  }
}

/** Without a signal it never comes: then the process is ended from without, and MiniStack with it. */
const aborted = (signal: AbortSignal | undefined): Promise<void> =>
  new Promise((resolve) => {
    signal?.addEventListener("abort", () => resolve(), { once: true });
    if (signal?.aborted) resolve();
  });
