import { expect, test } from "vitest";
import { findPlace } from "../../../client/place.ts";

const outputs = new Map([
  ["TableName", "stack-table"],
  ["CommandsQueueUrl", "stack-queue"],
  ["ValuesBucketName", "stack-bucket"],
]);
const asked = () => {
  const names: string[] = [];
  const read = async (name: string) => {
    names.push(name);
    return outputs;
  };
  return { names, read };
};
const environment = { LEASEHOLD_TABLE: "env-table", LEASEHOLD_COMMANDS_QUEUE_URL: "env-queue", LEASEHOLD_STACK: "Env" };

test("what is given wins over all that could be found", async () => {
  const { names, read } = asked();
  const given = { tableName: "t", commandsQueueUrl: "q" };
  expect(await findPlace(given, environment, read)).toEqual(given);
  expect(names).toEqual([]);
});

test("the environment's table and queue are used without asking CloudFormation", async () => {
  const { names, read } = asked();
  expect(await findPlace({}, environment, read)).toEqual({ tableName: "env-table", commandsQueueUrl: "env-queue" });
  expect(names).toEqual([]);
});

test("a stack that the program names wins over the environment's table and queue", async () => {
  const { names, read } = asked();
  expect(await findPlace({ stackName: "Mine" }, environment, read)).toMatchObject({ tableName: "stack-table" });
  expect(names).toEqual(["Mine"]);
});

test.each([
  [{ LEASEHOLD_STACK: "Env" }, "Env"],
  [{ LEASEHOLD_STACK: "" }, "Leasehold"],
  [{}, "Leasehold"],
])("with the environment %j the outputs are those of the stack %s", async (variables, stack) => {
  const { names, read } = asked();
  expect(await findPlace({}, variables, read)).toEqual({
    tableName: "stack-table",
    commandsQueueUrl: "stack-queue",
    valuesBucket: "stack-bucket",
  });
  expect(names).toEqual([stack]);
});

test.each<[string, Parameters<typeof findPlace>[0], string | undefined]>([
  ["a bucket that is given wins", { stackName: "Mine", valuesBucket: "mine" }, "mine"],
  ["a bucket that is given goes with the environment's table", { valuesBucket: "mine" }, "mine"],
  ["the environment's bucket goes with the environment's table", {}, "env-bucket"],
  ["the stack's bucket goes with the stack's table", { stackName: "Mine" }, "stack-bucket"],
  ["with a table that is given, nobody else's bucket is taken", { tableName: "t", commandsQueueUrl: "q" }, undefined],
])("%s", async (_, options, bucket) => {
  const variables = { ...environment, LEASEHOLD_VALUES_BUCKET: "env-bucket" };
  expect((await findPlace(options, variables, asked().read)).valuesBucket).toBe(bucket);
});

test("a stack without a bucket among its outputs, or an environment without one, is a place all the same", async () => {
  const read = async () => new Map([...outputs].filter(([name]) => name !== "ValuesBucketName"));
  expect(await findPlace({ stackName: "Old" }, {}, read)).not.toHaveProperty("valuesBucket");
  expect(await findPlace({}, environment, read)).not.toHaveProperty("valuesBucket");
});

test("one of the two names alone is refused, since it would mix two deployments", async () => {
  await expect(findPlace({}, { LEASEHOLD_TABLE: "t" }, asked().read)).rejects.toMatchObject({
    code: "not_configured",
    message: "the environment: LEASEHOLD_COMMANDS_QUEUE_URL must be set together with LEASEHOLD_TABLE, got nothing",
  });
  const half = { tableName: "t", commandsQueueUrl: "" };
  await expect(findPlace(half, {}, asked().read)).rejects.toThrow(
    "commandsQueueUrl must be set together with tableName",
  );
});

test("a stack that does not exist is named, with what to do", async () => {
  const read = () => Promise.reject(new Error("Stack with id Leasehold does not exist"));
  await expect(findPlace({}, {}, read)).rejects.toMatchObject({
    code: "not_configured",
    message: expect.stringMatching(/no stack "Leasehold".*LEASEHOLD_STACK.*LEASEHOLD_TABLE/),
  });
});

test("a stack without the outputs is told from a Leasehold stack", async () => {
  const read = async () => new Map([["Other", "x"]]);
  await expect(findPlace({}, {}, read)).rejects.toThrow('stack "Leasehold" must have the output TableName, got Other');
});

test("an error that is not about the stack's name comes through as it is", async () => {
  const cause = new Error("connect ECONNREFUSED");
  await expect(findPlace({}, {}, () => Promise.reject(cause))).rejects.toBe(cause);
});
