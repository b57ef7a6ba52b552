/** A process of its own that makes HTTP calls, one per line it is given, and says what came of each: something to kill. */
import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { waitUntil } from "../../support/processes.ts";

const script = `
  const lines = require("node:readline").createInterface({ input: process.stdin });
  lines.on("line", async (line) => {
    const { url, headers, body } = JSON.parse(line);
    const said = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) }).then(
      async (reply) => ({ status: reply.status, body: await reply.text() }),
      () => ({ broken: true }),
    );
    console.log(JSON.stringify(said));
  });
  console.log("ready");
`;

export type Caller = {
  readonly pid: number;
  /** What has been said so far, one entry for each call that came to an end. */
  readonly said: readonly unknown[];
  post(url: string, body: unknown, headers?: { readonly [name: string]: string }): void;
  end(): void;
};

export async function startCaller(): Promise<Caller> {
  const child: ChildProcess = spawn(process.execPath, ["-e", script], { stdio: ["pipe", "pipe", "inherit"] });
  const { stdin, stdout, pid } = child;
  if (stdin === null || stdout === null || pid === undefined) throw new Error("the caller could not be started");
  stdin.on("error", () => {}); // It may have been killed.
  const lines: string[] = [];
  const said: unknown[] = [];
  createInterface({ input: stdout }).on("line", (line) => {
    if (lines.push(line) > 1) said.push(JSON.parse(line));
  });
  await waitUntil(() => lines.length > 0, 10_000, "the caller to be ready");
  return {
    pid,
    said,
    post: (url, body, headers = {}) => void stdin.write(`${JSON.stringify({ url, body, headers })}\n`),
    end: () => void child.kill("SIGKILL"),
  };
}
