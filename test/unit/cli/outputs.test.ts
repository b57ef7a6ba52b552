import { expect, test } from "vitest";
import { outputKey } from "../../../shared/keys.ts";
import { deploymentOf, nodeItem, runItem } from "../client/deployment.ts";
import { jsonLines, run } from "./program.ts";

async function threeNodes() {
  const { client, put } = deploymentOf();
  await put(runItem({ node_count: 4 }));
  await put(nodeItem({ node_id: "buy", status: "SUCCEEDED", epoch: 1, output: '{"code":"V-1","n":[1,2]}' }));
  await put(nodeItem({ node_id: "big", ordinal: 1, status: "SUCCEEDED", epoch: 2, output_epoch: 2 }));
  const { pk, sk } = outputKey("run", "big", 2);
  await put({ pk, sk, kind: "beside", v: 1, generation: "g1", value: '"b\\u202eig"', expires_at: 2_000_000_000 });
  await put(nodeItem({ node_id: "none", ordinal: 2, status: "SUCCEEDED", epoch: 1, output: "null" }));
  await put(nodeItem({ node_id: "mail", ordinal: 3, status: "RUNNING", epoch: 1 }));
  return client;
}

test("outputs prints a line of JSON for each node that has succeeded, wherever its output stands", async () => {
  const { exitCode, stdout, stderr } = await run(await threeNodes(), ["outputs", "run"]);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
  expect(jsonLines(stdout)).toEqual([
    { nodeId: "buy", output: { code: "V-1", n: [1, 2] } },
    { nodeId: "big", output: "b\u202eig" },
    { nodeId: "none", output: null },
  ]);
});

test("an output that did not come along with the run is fetched by itself", async () => {
  const client = await threeNodes();
  const asked: string[] = [];
  const { stdout } = await run(
    {
      ...client,
      getRun: async (...given) => {
        const found = await client.getRun(...given);
        if (found === undefined) return undefined;
        const nodes = found.nodes.map(({ output, ...node }) =>
          node.nodeId === "big" ? { ...node, outputBeside: true as const } : { ...node, output },
        );
        return { ...found, nodes };
      },
      getOutput: async (runId, nodeId, options) => {
        asked.push(nodeId);
        return client.getOutput(runId, nodeId, options);
      },
    },
    ["outputs", "run"],
  );
  expect(asked).toEqual(["big"]);
  expect(jsonLines(stdout)).toContainEqual({ nodeId: "big", output: "b\u202eig" });
});

test("one node's output is printed to be read, and with --json as one line", async () => {
  const client = await threeNodes();
  expect(await run(client, ["outputs", "run", "buy"])).toEqual({
    exitCode: 0,
    stdout: '{\n  "code": "V-1",\n  "n": [\n    1,\n    2\n  ]\n}\n',
    stderr: "",
  });
  expect((await run(client, ["outputs", "run", "buy", "--json"])).stdout).toBe('{"code":"V-1","n":[1,2]}\n');
});

test("an output that would turn the line around is printed as JSON that does not, and is the same value", async () => {
  const { stdout } = await run(await threeNodes(), ["outputs", "run", "big"]);
  expect(stdout).toBe('"b\\u202eig"\n');
  expect(JSON.parse(stdout)).toBe("b\u202eig");
});

test.each<[string, string[], RegExp]>([
  ["a run that does not exist", ["nobody"], /got "nobody"/],
  ["a node of a run that does not exist", ["nobody", "buy"], /nobody/],
  ["a node that does not exist", ["run", "ghost"], /ghost/],
  ["a node that is running", ["run", "mail"], /RUNNING/],
])("the outputs of %s exit with 1 and say why", async (_, args, message) => {
  const { exitCode, stdout, stderr } = await run(await threeNodes(), ["outputs", ...args]);
  expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
  expect(stderr).toMatch(message);
  expect(stderr).not.toContain("unexpected");
});
