import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { buyVoucher, mailVoucher, voucherJob } from "../../../examples/testing/voucher.ts";
import { crashAtEveryStep } from "../../../testing/index.ts";

const textOf = (path: string): string => readFileSync(join(import.meta.dirname, "../../..", path), "utf8");

test("the example in docs/testing.md is the one that runs", () => {
  const example = textOf("examples/testing/voucher.test.ts").replace('"../../testing/index.ts"', '"leasehold/testing"');
  expect(textOf("docs/testing.md")).toContain(`\`\`\`ts\n${example}\`\`\``);
});

test("the failure in docs/testing.md is what a provider that forgets its keys gets to hear", async () => {
  let sold = 0;
  const tools = () => {
    sold = 0;
    const forgetful = { buy: async () => ({ code: `VOUCHER-${++sold}` }) };
    return [buyVoucher(forgetful), mailVoucher({ send: async () => undefined })];
  };
  const failure = await crashAtEveryStep({ nodes: voucherJob, tools }, () => {
    if (sold !== 1) throw new Error(`expected ${sold} to be 1`);
  }).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(Error);
  expect(textOf("docs/testing.md")).toContain(`\`\`\`text\n${(failure as Error).message}\n\`\`\``);
});
