/** The TypeScript of README.md and docs/http.md compiles as it stands, against what the package exports. */
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";

const root = join(import.meta.dirname, "../..");

const blocksOf = (page: string): readonly string[] =>
  [...readFileSync(join(root, page), "utf8").matchAll(/```ts\n(.*?)```/gs)].map(([, code = ""]) => code);

const [chargeCard = "", steps = "", construct = "", program = ""] = blocksOf("README.md");
const [httpTools = ""] = blocksOf("docs/http.md");

/** What the page leaves to its reader, around what it says. */
const files: Readonly<Record<string, string>> = {
  "charge-card.ts": chargeCard,
  "http-tools.ts": httpTools,
  "steps.ts": `import type { ToolContext } from "leasehold";
declare const card: string, cents: number;
declare const pay: (card: string, cents: number, key: string) => Promise<string>;
declare const writeInvoice: (charge: string, key: string) => Promise<string>;
export async function execute(context: ToolContext) {
${steps}
return invoice;
}`,
  "construct.ts": construct.replace(
    /\n\n([\s\S]*)$/,
    `
import { Stack } from "aws-cdk-lib";
import type * as lambda from "aws-cdk-lib/aws-lambda";
import type * as s3 from "aws-cdk-lib/aws-s3";
declare const bucket: s3.Bucket, api: lambda.Function, dashboard: lambda.Function;
export class Shop extends Stack {
  make() {
$1
  }
}`,
  ),
  "tools.ts": `export { buyVoucher } from "../../functions/tools/buy-voucher.ts";
export { sendMail } from "../../functions/tools/send-mail.ts";`,
  "program.ts": program,
};

let folder: string;
beforeAll(() => {
  // Inside, so that packages are found from there.
  mkdirSync(join(root, ".leasehold"), { recursive: true });
  folder = mkdtempSync(join(root, ".leasehold", "readme-"));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  const paths = {
    leasehold: ["../../functions/index.ts"],
    "leasehold/cdk": ["../../infra/index.ts"],
    "leasehold/client": ["../../client/index.ts"],
    "leasehold/tools": ["../../functions/http/index.ts"],
  };
  const config = { extends: "../../tsconfig.json", compilerOptions: { paths }, include: ["*.ts"] };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(config));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** @returns what the compiler has to say, "" for nothing. */
const compiled = (): Promise<string> =>
  promisify(execFile)(join(root, "node_modules", ".bin", "tsc"), ["--project", folder], { cwd: root }).then(
    ({ stdout }) => stdout,
    (error: { readonly stdout?: string }) => error.stdout ?? String(error),
  );

test("every block compiles", async () => {
  expect([chargeCard, steps, construct, program, httpTools].every((code) => code.length > 100)).toBe(true);
  expect(await compiled()).toBe("");
});

test("a wrong field in the program's graph does not", async () => {
  writeFileSync(join(folder, "program.ts"), program.replace("buy.output.code }", "buy.output.cod }"));
  expect(await compiled()).toMatch(/program\.ts.*Property 'cod' does not exist/);
});
