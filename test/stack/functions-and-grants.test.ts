import { describe, expect, it } from "vitest";
import { allowedTo, on } from "./allowed.ts";
import { arn, functionIds, ids, resource, resourcesOf, synth } from "./synth.ts";

const environmentOf = (id: string, props: Parameters<typeof synth>[0] = {}): Record<string, unknown> => {
  const environment = resource(synth(props), id).Properties.Environment;
  if (typeof environment !== "object" || environment === null) throw new Error(`${id} has no environment`);
  return { ...Reflect.get(environment, "Variables") };
};

describe("the functions", () => {
  it("run on arm64 and Node 24, and log lines of JSON to a group of their own that forgets", () => {
    const template = synth();
    for (const id of functionIds)
      expect(resource(template, id).Properties).toMatchObject({
        Architectures: ["arm64"],
        Runtime: "nodejs24.x",
        LoggingConfig: { LogFormat: "JSON", LogGroup: { Ref: expect.any(String) } },
      });
    const groups = Object.values(resourcesOf(template)).filter(({ Type }) => Type === "AWS::Logs::LogGroup");
    expect(groups).toHaveLength(functionIds.length);
    for (const group of groups) {
      expect(group.Properties.RetentionInDays).toBe(30);
      expect(group.DeletionPolicy).toBe("RetainExceptOnCreate");
    }
  });

  it("have the time-outs of the limits, the worker its own", () => {
    const template = synth({ limits: { functionTimeoutMs: 400_000, plainFunctionTimeoutMs: 50_000 } });
    const timeouts = functionIds.map((id) => resource(template, id).Properties.Timeout);
    expect(timeouts).toEqual([50, 50, 400, 50]);
  });

  it("are told the limits that were changed, so that the code counts as the template does", () => {
    for (const id of functionIds)
      expect(environmentOf(id, { limits: { leaseMs: 60_000 } })).toMatchObject({
        LEASEHOLD_TABLE: { Ref: ids.table },
        LEASEHOLD_NAMESPACE: "test",
        LEASEHOLD_LIMITS: '{"leaseMs":60000}',
      });
  });

  it("know the queues that they use and no other", () => {
    const queues = functionIds.map((id) => {
      const { LEASEHOLD_DISPATCH_QUEUE_URL: dispatch, LEASEHOLD_REJECTED_QUEUE_URL: rejected } = environmentOf(id);
      return [dispatch, rejected];
    });
    const dispatch = { Ref: ids.dispatchQueue };
    const rejected = { Ref: ids.rejectedQueue };
    expect(queues).toEqual([
      [undefined, rejected],
      [dispatch, rejected],
      [dispatch, rejected],
      [dispatch, undefined],
    ]);
  });

  it("know the bucket where they keep or read outputs", () => {
    const buckets = functionIds.map((id) => environmentOf(id).LEASEHOLD_VALUES_BUCKET);
    const bucket = { Ref: ids.valuesBucket };
    expect(buckets).toEqual([bucket, undefined, bucket, undefined]);
  });

  it("hold no concurrency back from the rest of the account", () => {
    for (const id of functionIds)
      expect(resource(synth(), id).Properties).not.toHaveProperty("ReservedConcurrentExecutions");
  });

  it("may call each other in a circle without being stopped as a runaway loop", () => {
    const loops = functionIds.map((id) => resource(synth(), id).Properties.RecursiveLoop);
    expect(loops).toEqual(["Allow", "Allow", "Allow", undefined]);
  });

  it("hand the deployer's own variables to the tools, in the worker alone", () => {
    const props = { worker: { environment: { PROVIDER_URL: "https://provider.example" } } };
    expect(environmentOf(ids.worker, props).PROVIDER_URL).toBe("https://provider.example");
    expect(environmentOf(ids.commands, props)).not.toHaveProperty("PROVIDER_URL");
  });

  it("refuse a variable that would hide one of Leasehold's", () => {
    expect(() => synth({ worker: { environment: { LEASEHOLD_TABLE: "other" } } })).toThrow(
      /worker.environment.*LEASEHOLD_TABLE/,
    );
  });
});

const allowed = (name: string): readonly string[] => allowedTo(synth(), `Leasehold${name}Role`);
const items = (...actions: readonly string[]) => on(arn(ids.table), ...actions.map((action) => `dynamodb:${action}`));
const consume = (queue: string) =>
  on(
    arn(queue),
    "sqs:ChangeMessageVisibility",
    "sqs:DeleteMessage",
    "sqs:GetQueueAttributes",
    "sqs:GetQueueUrl",
    "sqs:ReceiveMessage",
  );
const send = (queue: string) => on(arn(queue), "sqs:SendMessage");
const allObjects = { "Fn::Join": ["", [arn(ids.valuesBucket), "/*"]] };
const logs = (name: string) => {
  const group = Object.keys(resourcesOf(synth())).find((id) => id.startsWith(`Leasehold${name}Logs`));
  return on(arn(group ?? ""), "logs:CreateLogStream", "logs:PutLogEvents");
};

describe("what a function may do", () => {
  it("commands: write runs, keep the output of a resolved node and what was refused, and nothing else", () => {
    expect(allowed("CommandsHandler")).toEqual(
      [
        ...items("GetItem", "PutItem", "UpdateItem"),
        ...on(allObjects, "s3:PutObject"),
        ...consume(ids.commandsQueue),
        ...send(ids.rejectedQueue),
        ...logs("CommandsHandler"),
      ].sort(),
    );
  });

  it("relay: read the stream, advance what waited, wake workers, and nothing else", () => {
    expect(allowed("Relay")).toEqual(
      [
        ...items("GetItem", "PutItem", "UpdateItem"),
        ...on(
          { "Fn::GetAtt": [ids.table, "StreamArn"] },
          "dynamodb:DescribeStream",
          "dynamodb:GetRecords",
          "dynamodb:GetShardIterator",
          "dynamodb:ListStreams",
        ),
        ...send(ids.dispatchQueue),
        ...send(ids.rejectedQueue),
        // The mapping's failure destination; the first two come with it.
        ...on(arn(ids.streamFailures), "sqs:GetQueueAttributes", "sqs:GetQueueUrl", "sqs:SendMessage"),
        ...logs("Relay"),
      ].sort(),
    );
  });

  it("worker: claim and commit, keep and read outputs, hold or give up its message, keep what was refused, and nothing else", () => {
    expect(allowed("Worker")).toEqual(
      [
        ...items("GetItem", "PutItem", "UpdateItem"),
        ...on(allObjects, "s3:GetObject", "s3:PutObject"),
        ...consume(ids.dispatchQueue),
        ...send(ids.rejectedQueue),
        ...logs("Worker"),
      ].sort(),
    );
  });

  it("scanner: list the living runs, read their nodes, write what is owed, wake workers, and nothing else", () => {
    const index = { "Fn::Join": ["", [arn(ids.table), "/index/scan"]] };
    expect(allowed("Scanner")).toEqual(
      [
        ...items("GetItem", "PutItem", "Query", "UpdateItem"),
        ...on(index, "dynamodb:Query"),
        ...send(ids.dispatchQueue),
        ...logs("Scanner"),
      ].sort(),
    );
  });

  it("reaches every object of the one bucket and else names each resource, and no role carries a managed policy", () => {
    for (const name of ["CommandsHandler", "Relay", "Worker", "Scanner"])
      for (const grant of allowed(name))
        if (!grant.endsWith(` on ${JSON.stringify(allObjects)}`)) expect(grant).not.toContain("*");
    for (const { Type, Properties } of Object.values(resourcesOf(synth())))
      if (Type === "AWS::IAM::Role") expect(Properties).not.toHaveProperty("ManagedPolicyArns");
  });
});
