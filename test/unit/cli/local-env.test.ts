/** What `leasehold local` tells a shell. */
import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { asExports, asWord, stackEnvs } from "../../../cli/local/local-env.ts";

const outputs = (prefix: string) => ({
  [`${prefix}TableName`]: `${prefix}table`,
  [`${prefix}CommandsQueueUrl`]: `${prefix}queue`,
  [`${prefix}ValuesBucketName`]: `${prefix}bucket`,
});

test("each Leasehold of a stack is found, the first one under the name of the stack", () => {
  const found = stackEnvs("Shop", { ...outputs("Second"), OrdersTableName: "not ours", ...outputs("") });
  expect(found).toEqual([
    {
      name: "Shop",
      env: {
        LEASEHOLD_STACK: "Shop",
        LEASEHOLD_TABLE: "table",
        LEASEHOLD_COMMANDS_QUEUE_URL: "queue",
        LEASEHOLD_VALUES_BUCKET: "bucket",
      },
    },
    {
      name: "Shop-Second",
      env: {
        LEASEHOLD_STACK: "Shop",
        LEASEHOLD_TABLE: "Secondtable",
        LEASEHOLD_COMMANDS_QUEUE_URL: "Secondqueue",
        LEASEHOLD_VALUES_BUCKET: "Secondbucket",
      },
    },
  ]);
  expect(stackEnvs("Other", { OrdersTableName: "not ours" })).toEqual([]);
});

test.each(["/home/ada/.leasehold/local.env", "/Ünï cödé/it's $HOME/local.env"])(
  "a shell takes %j as one word, and as a value",
  (path) => {
    const printed = execFileSync("sh", ["-c", `${asExports({ FILE: path })}printf '%s|' "$FILE" ${asWord(path)}`]);
    expect(printed.toString("utf8")).toBe(`${path}|${path}|`);
  },
);
