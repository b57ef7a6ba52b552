/** The package as a stranger has it: packed, installed into what `cdk init` makes, deployed to a local AWS from there. */
import { cp } from "node:fs/promises";
import { join } from "node:path";
import { CloudFormationClient, DescribeStacksCommand } from "@aws-sdk/client-cloudformation";
import { ReceiveMessageCommand } from "@aws-sdk/client-sqs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { localRegion } from "../../cli/local/local-env.ts";
import { type Ministack, startMinistack } from "../../cli/local/ministack.ts";
import { projectRoot } from "../../cli/local/workspace.ts";
import { sqsClient } from "../../shared/adapters/sqs-client.ts";
import { type Shell, shellOutside } from "./shell.ts";

type Packed = {
  readonly filename: string;
  /** Bytes of the tarball. */
  readonly size: number;
  readonly files: readonly { readonly path: string }[];
};

const withinMs = 240_000;
let shell: Shell;
let local: Ministack | undefined;
let endpoint: string;
let packed: Packed;
let app: string;

const inApp = (lines: string): Promise<string> => shell.run(app, lines);
/** As a person does it, in the terminal where the stack's environment has been read. */
const withStack = (lines: string): Promise<string> => inApp(`. .leasehold/local.env\n${lines}`);

beforeAll(async () => {
  const given = process.env.AWS_ENDPOINT_URL;
  local = given === undefined || given === "" ? await startMinistack() : undefined;
  endpoint = local?.endpoint ?? given ?? "";
  shell = await shellOutside({ AWS_ENDPOINT_URL: endpoint });
  app = join(shell.folder, "shop");
  const report = await shell.run(projectRoot, `npm pack --json --pack-destination '${shell.folder}' 2> /dev/null`);
  const [only]: readonly Packed[] = JSON.parse(report);
  if (only === undefined) throw new Error(`npm pack named no tarball: ${report}`);
  packed = only;
  await makeApp();
  await inApp("npx leasehold local");
}, withinMs);

afterAll(async () => {
  await local?.stop();
  await shell.remove();
});

/** What `cdk init` makes, without its test runner, and with the files of test/package/app. */
async function makeApp(): Promise<void> {
  const cdk = join(projectRoot, "node_modules", "aws-cdk", "bin", "cdk");
  await shell.run(
    shell.folder,
    `mkdir shop && cd shop && node '${cdk}' init app --language typescript --generate-only --no-notices`,
  );
  await inApp(`
    rm -r bin lib test jest.config.js
    npm pkg delete devDependencies.{jest,@swc/core,@swc/jest,@types/jest}
    sed -i.bak 's/"jest",//' tsconfig.json`);
  await cp(join(import.meta.dirname, "app"), app, { recursive: true });
  await inApp(`npm install --no-audit --no-fund '../${packed.filename}' zod @aws-sdk/client-sqs`);
}

test("the tarball holds what runs and its types, no test and no source, and stays small", () => {
  const paths = packed.files.map(({ path }) => path);
  expect(paths).toEqual(expect.arrayContaining(["LICENSE", "README.md", "package.json", "dist/cli/leasehold.js"]));
  expect(paths.filter((path) => /(^|\/)test\/|\.test\.|(?<!\.d)\.ts$/.test(path))).toEqual([]);
  expect(packed.size).toBeLessThan(1_000_000);
});

test("no packed file names a path of the machine that packed it", async () => {
  expect(await shell.run(shell.folder, `tar -xOf '${packed.filename}' | grep -c '${projectRoot}/' || true`)).toBe(
    "0\n",
  );
});

test("an app that imports the package compiles, as CommonJS and in strict mode", async () => {
  await inApp("npx tsc --noEmit");
});

test("a graph of the app's own tools runs to its end, and each namespace has its own", async () => {
  expect(await withStack("npx tsx start.ts Shop first && npx tsx start.ts OtherShop first")).toMatch(
    /^(\{"status":"SUCCEEDED","said":\{"said":"sent: [0-9a-f]{8}"\}\}\n){2}$/,
  );
  const outputs = await outputsOf("Shop");
  const client = sqsClient({ endpoint, region: localRegion, credentials });
  const received = await client.send(
    new ReceiveMessageCommand({ QueueUrl: outputs.get("ParcelsUrl"), MaxNumberOfMessages: 10 }),
  );
  expect(received.Messages?.map(({ Body = "" }) => JSON.parse(Body).to)).toEqual(["Shop"]);
});

test("the installed command line speaks with the stack that local.env names", async () => {
  expect(await inApp("cat .leasehold/*.env | grep STACK | sort")).toBe(
    "export LEASEHOLD_STACK='OtherShop'\nexport LEASEHOLD_STACK='Shop'\n",
  );
  await withStack(`
    echo '{ "nodes": [{ "node_id": "a", "tool": "announce", "input": { "text": "hello" } }] }' > graph.json
    npx leasehold submit graph.json --run-id second
    npx leasehold watch second`);
  expect(JSON.parse(await withStack("npx leasehold outputs second a --json"))).toEqual({ said: "sent: hello" });
});

test.each([
  {
    what: "a folder without an app",
    lines: "mkdir empty && cd empty && npx leasehold local",
    says: /without --tools or --app there must be a cdk\.json in the folder, got none in .*\/empty\n$/,
  },
  {
    what: "a module of tools that is not there",
    lines: "npx leasehold local --tools nope.ts",
    says: /--tools must be the path of an existing module, got "nope\.ts"\n$/,
  },
  {
    what: "a folder that cannot find the CDK",
    lines: "cd .. && node shop/node_modules/leasehold/dist/cli/leasehold.js local --app true",
    says: /aws-cdk must be installed in .* or above it, got nothing of that name: npm install --save-dev aws-cdk\n$/,
  },
])("leasehold local refuses $what before it starts anything", async ({ lines, says }) => {
  await expect(inApp(lines)).rejects.toThrow(says);
});

test("cdk destroy takes both stacks away", async () => {
  // A home of its own: the cache there maps credentials to accounts, and the dummies have no place in the user's.
  await withStack("CDK_HOME=$PWD/.leasehold/cdk-home npx cdk destroy --all --force --no-notices");
  await expect(outputsOf("Shop")).rejects.toThrow("does not exist");
  await expect(outputsOf("OtherShop")).rejects.toThrow("does not exist");
});

const credentials = { accessKeyId: "test", secretAccessKey: "test" };

async function outputsOf(stack: string): Promise<ReadonlyMap<string, string>> {
  const client = new CloudFormationClient({ endpoint, region: localRegion, credentials });
  const answer = await client.send(new DescribeStacksCommand({ StackName: stack }));
  const outputs = answer.Stacks?.[0]?.Outputs ?? [];
  return new Map(outputs.map(({ OutputKey = "", OutputValue = "" }) => [OutputKey, OutputValue]));
}
