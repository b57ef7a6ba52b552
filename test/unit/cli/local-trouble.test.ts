/** What a person reads when `leasehold local` cannot deploy. */
import { expect, test } from "vitest";
import { deploy } from "../../../cli/local/deploy.ts";
import { runProgram } from "../../../cli/local/run-program.ts";

const failing = ["--eval", 'console.error("the reason"); process.exit(3);'];

test("a program that fails unseen says why in its error", async () => {
  await expect(runProgram(process.execPath, failing, { env: process.env })).rejects.toThrow(
    /ended with 3:\nthe reason\n$/,
  );
});

test("a program that was watched as it failed says why once", async () => {
  let shown = "";
  const show = (text: string): void => {
    shown += text;
  };
  await expect(runProgram(process.execPath, failing, { env: process.env, show })).rejects.toThrow(/ended with 3$/);
  expect(shown).toBe("the reason\n");
});

test("an endpoint where nobody listens any more is named, with the variable that names it", async () => {
  await expect(deploy({ endpoint: "http://127.0.0.1:1", quiet: true })).rejects.toThrow(
    "no AWS answers at http://127.0.0.1:1: start it, or unset AWS_ENDPOINT_URL to have one started",
  );
});
