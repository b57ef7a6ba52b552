import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { deploymentOf } from "../client/deployment.ts";
import { jsonLines, run } from "./program.ts";

const { client } = deploymentOf();
const buy = { name: "buy", effect: "at_most_once", pool: "heavy", timeoutMs: 90_000, attempts: 8, lease: "invocation" };
const noop = { name: "noop", effect: "read_only", timeoutMs: 1_500 };
const resourcesOf = (...lists: readonly unknown[]) =>
  JSON.stringify({
    Resources: {
      Table: { Type: "AWS::DynamoDB::Table", Metadata: { "aws:cdk:path": "x" } },
      ...Object.fromEntries(lists.map((tools, place) => [`F${place}`, { Metadata: { "leasehold:tools": tools } }])),
    },
  });

const deployedAs = (template: string, environment: Record<string, string> = {}) => {
  const asked: string[] = [];
  const readTemplate = async (stackName: string) => {
    asked.push(stackName);
    return template;
  };
  return { asked, world: { readTemplate, environment } };
};

describe("tools without a file", () => {
  test("shows what the stack's template says", async () => {
    const { asked, world } = deployedAs(resourcesOf([buy, noop]));
    expect(await run(client, ["tools"], world)).toEqual({
      exitCode: 0,
      stdout: [
        "TOOL  EFFECT        POOL   TIMEOUT     ATTEMPTS  LEASE",
        "buy   at_most_once  heavy  1 min 30 s  8         invocation",
        "noop  read_only     -      1.5 s       -         -",
        "",
      ].join("\n"),
      stderr: "",
    });
    expect(asked).toEqual(["Leasehold"]);
  });

  test("asks for the stack that LEASEHOLD_STACK names", async () => {
    const { asked, world } = deployedAs(resourcesOf([noop]), { LEASEHOLD_STACK: "Shop" });
    await run(client, ["tools"], world);
    expect(asked).toEqual(["Shop"]);
  });

  test("with --json prints each tool as one line, of each Leasehold in the stack", async () => {
    const { world } = deployedAs(resourcesOf([buy], [noop]));
    expect(jsonLines((await run(client, ["tools", "--json"], world)).stdout)).toEqual([buy, noop]);
  });

  test.each<[string, string]>([
    ["names no tools", resourcesOf()],
    ["is no JSON", "Resources:\n  A: 1\n"],
    ["is empty", ""],
    ["has another version's tools", resourcesOf([{ tool: "x" }])],
  ])("of a stack whose template %s exits with 1 and says what it must have", async (_, template) => {
    const { exitCode, stdout, stderr } = await run(client, ["tools"], deployedAs(template).world);
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
    expect(stderr).toMatch(
      /^leasehold: stack "Leasehold" must have a resource with the metadata leasehold:tools in its template, got none;/,
    );
  });

  test("of a stack that does not exist exits with 1 and names the variable that leads to another", async () => {
    const readTemplate = () => Promise.reject(new Error("Stack with id Shop does not exist"));
    const environment = { LEASEHOLD_STACK: "Shop" };
    const { exitCode, stderr } = await run(client, ["tools"], { readTemplate, environment });
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/^leasehold: there is no stack "Shop" in this account .* LEASEHOLD_STACK\n$/);
  });

  test("that may not be read exits with 1 and says so", async () => {
    const readTemplate = () => Promise.reject(Object.assign(new Error("not you"), { name: "AccessDenied" }));
    const { stderr } = await run(client, ["tools"], { readTemplate });
    expect(stderr).toBe("leasehold: these AWS credentials must be allowed to do this, got not you\n");
  });
});

test("tools of a file shows what that module exports, and asks AWS for nothing", async () => {
  const file = fileURLToPath(new URL("../../../functions/tools/index.ts", import.meta.url));
  const { asked, world } = deployedAs("");
  const { exitCode, stdout } = await run(client, ["tools", file, "--json"], world);
  expect(exitCode).toBe(0);
  expect(jsonLines(stdout)).toContainEqual({ name: "noop", effect: "read_only" });
  expect(asked).toEqual([]);
});
