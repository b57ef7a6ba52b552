#!/usr/bin/env node
/** What a person types. Only the process stands here: its streams, its signals, its exit. */
import { text } from "node:stream/consumers";
import { createClient } from "../client/index.ts";
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
  client: createClient(),
  stdout: process.stdout,
  stderr: process.stderr,
  readInput: () => text(process.stdin),
  environment: process.env,
  signal: interruption.signal,
});
// After Ctrl-C an open standard input would keep the process; else it ends by itself, once its output has left the pipe.
if (interruption.signal.aborted) process.exit(exitCode);
process.exitCode = exitCode;
