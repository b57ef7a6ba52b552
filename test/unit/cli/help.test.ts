import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { deploymentOf } from "../client/deployment.ts";
import { run } from "./program.ts";

const { client } = deploymentOf();
const groups = {
  "Runs:": ["submit", "status", "watch", "outputs", "list", "cancel"],
  "Doubts:": ["doubts", "resolve"],
  "Tools:": ["tools"],
  "On this machine:": ["dev", "local"],
};
const names = Object.values(groups).flat();

test.each([["--help"], ["-h"], ["help"]])("%s prints the commands in groups and the exit codes", async (arg) => {
  const { exitCode, stdout, stderr } = await run(client, [arg]);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
  expect(stdout).toMatch(/^Usage: leasehold COMMAND \[options\]\n/);
  for (const [group, commands] of Object.entries(groups)) {
    const [section = ""] = (stdout.split(`\n${group}\n`)[1] ?? "").split("\n\n");
    // What is indented further goes on with the line before.
    expect([...section.matchAll(/^ {2}(\S+) /gm)].map(([, name]) => name)).toEqual(commands);
  }
  for (const code of ["0", "1", "2", "130", "141"]) expect(stdout).toMatch(new RegExp(`\n  ${code} +\\w`));
});

test("no command at all prints the same to stderr and exits with 2", async () => {
  const { stdout: overview } = await run(client, ["--help"]);
  expect(await run(client, [])).toEqual({ exitCode: 2, stdout: "", stderr: overview });
});

test.each(names)("%s --help explains the command by two examples at least", async (name) => {
  const { exitCode, stdout } = await run(client, [name, "--help"]);
  expect(exitCode).toBe(0);
  expect(stdout).toMatch(new RegExp(`^Usage: leasehold ${name} .*\\[options\\]\n`));
  const examples = (stdout.split("\nExamples:\n")[1] ?? "").trimEnd().split("\n");
  expect(examples.length).toBeGreaterThanOrEqual(2);
  for (const example of examples) expect(example).toContain(`leasehold ${name}`);
  expect(stdout).toContain("\nExit code: 0 ");
  expect(await run(client, ["help", name])).toMatchObject({ exitCode: 0, stdout });
  expect(await run(client, [name, "-h", "much", "--more"])).toMatchObject({ exitCode: 0, stdout });
});

test.each(["--version", "-V"])("%s prints the package's", async (option) => {
  const text = readFileSync(new URL("../../../package.json", import.meta.url), "utf8");
  expect(await run(client, [option])).toEqual({ exitCode: 0, stdout: `${JSON.parse(text).version}\n`, stderr: "" });
});

test("help is as wide as the terminal, and 120 columns at most", async () => {
  const widestAt = async (columns: number): Promise<number> => {
    let text = "";
    await run(client, ["list", "--help"], { stdout: { write: (part) => (text += part), isTTY: true, columns } });
    const [options = ""] = text.split("What it costs");
    return Math.max(...options.split("\n").map((line) => line.length));
  };
  expect(await widestAt(60)).toBeLessThanOrEqual(60);
  expect(await widestAt(500)).toBe(await widestAt(120));
});
