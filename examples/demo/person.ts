/** What a person does about a doubt: looks into the provider's books, and types one command. */
import { runCli } from "../../cli/run.ts";
import type { Client } from "../../client/index.ts";
import type { Provider } from "../../test/support/provider.ts";
import { nameOf } from "./books.ts";
import type { Tell } from "./narrator.ts";

/** @throws Error where the command line does not accept what was typed. */
export async function resolveAsAPerson(
  client: Client,
  effects: Provider["effects"],
  runId: string,
  tell: Tell,
): Promise<void> {
  const made = effects.find(({ path }) => path === "/vouchers");
  tell(
    `a person looks into the provider's books: ${made === undefined ? "nothing" : `${nameOf(made.answer)} is there`}`,
  );
  const said = made === undefined ? ["--not-done"] : ["--succeeded", "--output", JSON.stringify(made.answer)];
  const why = made === undefined ? "it is not in the books of the provider" : "it is in the books of the provider";
  const args = ["resolve", runId, "buy", ...said, "--by", "a person", "--why", why];
  tell(`and types: npm run leasehold -- ${args.map(quoted).join(" ")}`);
  const printed: string[] = [];
  const output = { write: (text: string) => printed.push(text) };
  const exitCode = await runCli(args, {
    client,
    stdout: output,
    stderr: output,
    readInput: async () => "",
    environment: {},
  });
  for (const line of printed.join("").trim().split("\n")) tell(`  ${line}`);
  if (exitCode !== 0) throw new Error(`leasehold resolve ended with ${exitCode}`);
}

/** As a shell must be given it. */
const quoted = (arg: string): string =>
  /^[\w./@:-]+$/.test(arg) ? arg : arg.includes("'") ? JSON.stringify(arg) : `'${arg}'`;
