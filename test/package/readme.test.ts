/** README.md: the commands of "In your own app" and "Try it locally", as they stand, by someone who has the clone and nothing else. */
import { readFileSync } from "node:fs";
import { mkdir, symlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Ministack, startMinistack } from "../../cli/local/ministack.ts";
import { ministackPython } from "../../cli/local/ministack-install.ts";
import { projectRoot } from "../../cli/local/workspace.ts";
import { type Running, type Shell, shellOutside } from "./shell.ts";

const withinMs = 240_000;
const local = "npx leasehold local";

let shell: Shell;
let clone: string;
let app: string;
let second: Ministack | undefined;
let running: Running | undefined;
/** What the first terminal printed before the local AWS was started. */
let prepared: string;

const readme = readFileSync(join(projectRoot, "README.md"), "utf8");

function blocksOf(title: string): readonly string[] {
  const start = readme.indexOf(`\n## ${title}\n`);
  const section = readme.slice(start, readme.indexOf("\n## ", start + 1));
  return [...section.matchAll(/```bash\n(.*?)```/gs)].map(([, lines = ""]) => lines);
}

const blocks = blocksOf("In your own app");
const localAt = blocks.findIndex((block) => block.includes(local));

beforeAll(async () => {
  // No AWS_ENDPOINT_URL, whoever set it: the reader has none, and the README lets the local AWS be started.
  shell = await shellOutside();
  clone = join(shell.folder, "leasehold");
  app = join(shell.folder, "my-app");
  await mkdir(clone);
  // As it is checked out, with what is not committed yet.
  await shell.run(
    projectRoot,
    `git ls-files --cached --others --exclude-standard | while read -r file; do [ ! -e "$file" ] || echo "$file"; done |
      tar -cf - -T - | tar -xf - -C '${clone}'`,
  );
  // `npm ci` has run in this one, or no test would; a second time would only copy the same files for a long while.
  await symlink(join(projectRoot, "node_modules"), join(clone, "node_modules"));
  prepared = await shell.run(clone, blocks.slice(0, localAt).join("\n"));
  await withMinistackOfThisClone(app);
  running = await shell.startUntil(app, blocks[localAt] ?? "", "runs until Ctrl-C");
}, withinMs);

/** Already installed there: this very run of the tests has shown that it can be, and a second time is a second download. */
async function withMinistackOfThisClone(folder: string): Promise<void> {
  const home = dirname(dirname(await ministackPython()));
  await mkdir(join(folder, ".leasehold"), { recursive: true });
  await symlink(home, join(folder, ".leasehold", basename(home)));
}

afterAll(async () => {
  await running?.interrupt();
  await second?.stop();
  await shell.remove();
});

test("the section has a terminal for the local AWS and one for the person", () => {
  expect(localAt).toBeGreaterThan(0);
  expect(blocks.slice(localAt + 1)).toHaveLength(1);
});

test("the tool runs in memory, and survives the death of its first worker there", () => {
  expect(prepared).toContain("KILLED");
  expect(prepared).toContain("SUCCEEDED");
});

test(
  "the tool survives SIGKILL of the worker's process on the local AWS: two calls, one operation, one parcel",
  async () => {
    const printed = await shell.run(app, blocks.slice(localAt + 1).join("\n"));
    const calls = [...printed.matchAll(/^attempt (\d): (\S+)$/gm)].map(([, attempt, id]) => ({ attempt, id }));
    const [{ id } = { id: "no call" }] = calls;
    expect(calls).toEqual([
      { attempt: "1", id },
      { attempt: "2", id },
    ]);
    expect(printed.match(/^shelf\/.*\.parcel$/gm)).toEqual([`shelf/${id}.parcel`]);
    expect(printed).toContain("SUCCEEDED");
    expect(printed).toMatch(new RegExp(`"parcel": ?"${id}\\.parcel"`));
  },
  withinMs,
);

test("Ctrl-C ends the local AWS, and all that ran on it", async () => {
  const endpoint = await shell.run(app, ". .leasehold/local.env && echo $AWS_ENDPOINT_URL");
  const answers = () =>
    fetch(endpoint.trim()).then(
      () => true,
      () => false,
    );
  expect(await answers()).toBe(true);
  await running?.interrupt();
  await expect.poll(answers, { timeout: 10_000 }).toBe(false);
});

test(
  "the commands of the clone's own stack do what the page says",
  async () => {
    const [start = "", commands = ""] = blocksOf("Try it locally");
    expect(start).toContain("npm run local");
    second = await startMinistack();
    // With the local AWS given it ends once all is deployed, and this test need not wait for what it prints.
    await shell.run(clone, `export AWS_ENDPOINT_URL='${second.endpoint}'\n${start}`);
    const printed = await shell.run(clone, commands);
    expect(printed).toContain("run first: SUCCEEDED, 10 of 10 nodes ended");
    expect(printed).toMatch(/^run nap: (CANCELLING|CANCELLED) \(changed my mind\)/m);
    expect(printed).toContain("no node is in doubt");
  },
  withinMs,
);
