import { spawn } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { graphOf, moduleHead, userFolder } from "./dev-session.ts";

test("errors that nobody awaits are told with their line and end no session; its standard input is read; Ctrl-C ends it with 130", async () => {
  const folder = userFolder();
  folder.write(
    "tools.ts",
    `${moduleHead(folder)}
const later = () => { throw new Error("in a timer"); };
export const tools = [defineTool({ name: "work", ...any, effect: "idempotent", execute: async () => {
  setTimeout(later, 1);
  void Promise.reject(new Error("in a promise"));
  return {};
} })];`,
  );
  folder.write("order.json", graphOf({ node_id: "a", tool: "work" }));
  const child = spawn(
    process.execPath,
    ["--import", "tsx", join(import.meta.dirname, "../../../cli/leasehold.ts"), "dev", folder.path("tools.ts")],
    { stdio: "pipe" },
  );
  let said = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (data) => (said += String(data)));
  const ended = new Promise<number | null>((resolve) => child.on("close", resolve));
  try {
    const soon = { timeout: 20_000 };
    await expect.poll(() => said, soon).toContain("type the path of a graph file");
    child.stdin.write(`${folder.path("order.json")}\n`);
    await expect.poll(() => said, soon).toContain("run order-1: SUCCEEDED");
    await expect
      .poll(() => said, soon)
      .toMatch(/it would end the worker's process: Error: in a promise\n(.|\n)*tools\.ts:10:23/);
    await expect
      .poll(() => said, soon)
      .toMatch(/it would end the worker's process: Error: in a timer\n.*later \(.*tools\.ts:7:29/);
    child.stdin.write("\n");
    await expect.poll(() => said, soon).toContain("run order-2: SUCCEEDED");
    child.kill("SIGINT");
    expect(await ended).toBe(130);
  } finally {
    child.kill("SIGKILL");
    folder.remove();
  }
});
