import { existsSync } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import { runProgram } from "./run-program.ts";
import { makeWorkspace, workspace } from "./workspace.ts";

/** Pinned, since the tests rest on how this version runs functions, queues and streams. */
const version = "1.5.33";
const constraints = resolve(import.meta.dirname, "ministack-constraints.txt");

const whatToInstall =
  "Local AWS is MiniStack, which needs Python 3.10 or later with venv and pip (Debian, Ubuntu: apt-get install python3 python3-venv; " +
  "macOS: brew install python). To use another local AWS, set AWS_ENDPOINT_URL.";

/**
 * The Python that has MiniStack, in a virtual environment of the project's own, which the first call makes.
 * Two processes may do so at once: each builds apart, and the first to rename its own into place wins.
 * @throws Error that says what to install when there is no Python that can make it.
 */
export async function ministackPython(): Promise<string> {
  const home = join(workspace, `ministack-${version}`);
  const python = join(home, "bin", "python");
  if (existsSync(python)) return python;

  await makeWorkspace();
  const building = `${home}.building-${process.pid}`;
  try {
    await build(building);
    await rename(building, home).catch((cause: unknown) => {
      if (!existsSync(python)) throw cause;
    });
  } finally {
    await rm(building, { recursive: true, force: true });
  }
  return python;
}

async function build(home: string): Promise<void> {
  const run = { env: process.env };
  await runProgram(
    "python3",
    ["-c", "import sys, venv, ensurepip; assert sys.version_info >= (3, 10), sys.version"],
    run,
  )
    .then(() => runProgram("python3", ["-m", "venv", home], run))
    .catch((cause: unknown) => {
      throw new Error(`${whatToInstall}\n${cause instanceof Error ? cause.message : cause}`, { cause });
    });
  process.stderr.write(`installing MiniStack ${version} into ${workspace} (once)\n`);
  // Started as a module and not by its script, whose first line holds a path that the rename makes untrue.
  const args = ["-m", "pip", "install", "--quiet", "--constraint", constraints, `ministack==${version}`];
  await runProgram(join(home, "bin", "python"), args, run);
}
