/** `npm run local`: a local AWS with the stack on it, until Ctrl-C. `-c name=value` goes on to the CDK app. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { deploy } from "./local/deploy.ts";
import { asExports, localAwsEnv, stackEnv } from "./local/local-env.ts";
import { startMinistack } from "./local/ministack.ts";
import { workspace } from "./local/workspace.ts";

const interrupted = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => interrupted.abort());

function readContext(): Readonly<Record<string, string>> {
  const { values } = parseArgs({ options: { context: { type: "string", short: "c", multiple: true } } });
  const pairs = (values.context ?? []).map((pair): [string, string] => {
    const at = pair.indexOf("=");
    if (at < 1) throw new Error(`--context must be name=value, got ${JSON.stringify(pair)}`);
    return [pair.slice(0, at), pair.slice(at + 1)];
  });
  return Object.fromEntries(pairs);
}

async function deployOn(endpoint: string, context: Readonly<Record<string, string>>): Promise<void> {
  const outputs = await deploy({ endpoint, context: { removable: "true", ...context }, signal: interrupted.signal });
  const envFile = join(workspace, "local.env");
  const lines = Object.entries(outputs).map(([stack, values]) =>
    asExports({ ...localAwsEnv(endpoint), ...stackEnv(stack, values) }),
  );
  await writeFile(envFile, lines.join(""));
  process.stdout.write(`\n${lines.join("")}\nThe same is in ${envFile}: . ${envFile}\n`);
}

async function main(): Promise<void> {
  const context = readContext();
  const given = process.env.AWS_ENDPOINT_URL;
  if (given !== undefined && given !== "") return deployOn(given, context);

  await mkdir(workspace, { recursive: true });
  const log = join(workspace, "ministack.log");
  const local = await startMinistack({ log });
  try {
    if (interrupted.signal.aborted) return;
    process.stderr.write(`local AWS at ${local.endpoint}, log in ${log}\n`);
    await deployOn(local.endpoint, context);
    process.stdout.write("Local AWS runs until Ctrl-C.\n");
    await new Promise<void>((resolve) => {
      interrupted.signal.addEventListener("abort", () => resolve());
      if (interrupted.signal.aborted) resolve();
    });
  } finally {
    await local.stop();
  }
}

main().catch((error: unknown) => {
  if (interrupted.signal.aborted) return;
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
  process.exitCode = 1;
});
