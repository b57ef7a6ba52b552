#!/usr/bin/env node
/** What a person types. Only the process stands here: its streams, its signals, its exit. */
import { text } from "node:stream/consumers";
import { lazyClient } from "./lazy-client.ts";
import { runCli } from "./run.ts";

/** What a shell gives a program that wrote to a closed pipe: SIGPIPE. */
const BROKEN_PIPE_EXIT = 141;

for (const stream of [process.stdout, process.stderr]) {
  stream.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
    process.exit(BROKEN_PIPE_EXIT);
  });
}

// The SDK's notice that it will drop this Node some day is for maintainers; it would stand between the lines of stderr.
process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= "true";

const interruption = new AbortController();
// Once: a second Ctrl-C ends the process at once.
process.once("SIGINT", () => interruption.abort());
process.once("SIGTERM", () => interruption.abort());

const exitCode = await runCli(process.argv.slice(2), {
  client: lazyClient(async () => (await import("../client/index.ts")).createClient()),
  stdout: process.stdout,
  stderr: process.stderr,
  readInput: () => text(process.stdin),
  environment: process.env,
  signal: interruption.signal,
});
// An open standard input, or what a user's module of tools has left open, would keep the process. Its output leaves first.
const written = (stream: NodeJS.WriteStream) => new Promise<void>((resolve) => stream.write("", () => resolve()));
if (!interruption.signal.aborted) await Promise.all([written(process.stdout), written(process.stderr)]);
process.exit(exitCode);
