/** A folder outside the repository, and a shell in it that knows nothing of the repository. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { runProgram } from "../../cli/local/run-program.ts";

export type Shell = {
  readonly folder: string;
  /** Runs lines of bash as they stand and returns what they printed. @throws Error with that when one of them fails. */
  run(folder: string, lines: string): Promise<string>;
  /** Starts a program that runs until it is ended; resolves once it has printed the text. */
  startUntil(folder: string, lines: string, printed: string): Promise<Running>;
  remove(): Promise<void>;
};

export type Running = {
  /** As Ctrl-C does in its terminal. */
  interrupt(): Promise<void>;
};

const strict = ["-euo", "pipefail", "-c"];

export async function shellOutside(environment: Readonly<Record<string, string>> = {}): Promise<Shell> {
  // The real path: on macOS the folder for temporary files is a link, and a build would name the target.
  const folder = await realpath(await mkdtemp(join(tmpdir(), "leasehold-package-")));
  const env = { ...outside(process.env), ...environment };
  return {
    folder,
    run: (cwd, lines) => runProgram("bash", [...strict, lines], { cwd, env }),
    startUntil: (cwd, lines, printed) => start(cwd, env, lines, printed),
    remove: () => rm(folder, { recursive: true, force: true, maxRetries: 5 }),
  };
}

/** Neither what npm and vitest tell their children, nor a program of the repository, nor an AWS account. */
function outside(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const kept = Object.entries(env).filter(
    ([name]) => !/^(npm_|VITEST|TEST$|NODE_ENV$|NODE_OPTIONS$|INIT_CWD$|AWS_|CDK_|LEASEHOLD_)/.test(name),
  );
  const path = (env.PATH ?? "").split(delimiter).filter((entry) => !entry.includes("node_modules"));
  return {
    ...Object.fromEntries(kept),
    PATH: path.join(delimiter),
    // What the repository's own install has fetched need not be fetched again.
    npm_config_prefer_offline: "true",
    // The SDK's word about an older Node would stand between the lines that a test reads.
    AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: "true",
  };
}

async function start(cwd: string, env: NodeJS.ProcessEnv, lines: string, printed: string): Promise<Running> {
  // A process group of its own, which is ended as a whole, as a terminal does.
  const child = spawn("bash", [...strict, lines], { cwd, env, detached: true, stdio: ["ignore", "pipe", "pipe"] });
  const ended = once(child, "close");
  const interrupt = async (): Promise<void> => {
    if (child.pid !== undefined && child.exitCode === null && child.signalCode === null) {
      process.kill(-child.pid, "SIGINT");
      await ended;
    }
  };
  let output = "";
  await new Promise<void>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (text: string) => {
        output += text;
        if (output.includes(printed)) resolve();
      });
    ended.then(
      () => reject(new Error(`it ended before it had printed ${JSON.stringify(printed)}:\n${output}`)),
      reject,
    );
  });
  return { interrupt };
}
