import { describe, expect, it } from "vitest";
import { arn, ids, resource, resourcesOf, synth } from "./synth.ts";

describe("the mappings", () => {
  it("send a message again for its own failure only: ten commands at once, one dispatch at once", () => {
    const template = synth();
    for (const [mapping, queue, consumer, batchSize] of [
      [ids.commandsMapping, ids.commandsQueue, ids.commands, 10],
      [ids.dispatchMapping, ids.dispatchQueue, ids.worker, 1],
    ] as const)
      expect(resource(template, mapping).Properties).toEqual({
        EventSourceArn: arn(queue),
        FunctionName: { Ref: consumer },
        BatchSize: batchSize,
        FunctionResponseTypes: ["ReportBatchItemFailures"],
      });
  });

  it("carry outbox entries to the relay from the stream's beginning, and note those that cannot be carried", () => {
    const { FilterCriteria, ...rest } = resource(synth(), ids.outboxMapping).Properties;
    expect(rest).toEqual({
      EventSourceArn: { "Fn::GetAtt": [ids.table, "StreamArn"] },
      FunctionName: { Ref: ids.relay },
      StartingPosition: "TRIM_HORIZON",
      BatchSize: 100,
      FunctionResponseTypes: ["ReportBatchItemFailures"],
      BisectBatchOnFunctionError: true,
      MaximumRetryAttempts: 10,
      MaximumRecordAgeInSeconds: 3_600,
      ParallelizationFactor: 4,
      DestinationConfig: { OnFailure: { Destination: arn(ids.streamFailures) } },
    });
    expect(FilterCriteria).toEqual({
      Filters: [{ Pattern: JSON.stringify({ dynamodb: { NewImage: { kind: { S: ["outbox"] } } } }) }],
    });
  });

  it("begin only when the function's role may read what they bring", () => {
    const json: unknown = synth().toJSON();
    for (const [id, role] of [
      [ids.commands, "LeaseholdCommandsHandlerRoleDefaultPolicy"],
      [ids.relay, "LeaseholdRelayRoleDefaultPolicy"],
      [ids.worker, "LeaseholdWorkerRoleDefaultPolicy"],
    ] as const)
      expect(json).toHaveProperty(
        ["Resources", id, "DependsOn"],
        expect.arrayContaining([expect.stringContaining(role)]),
      );
  });
});

describe("the rule", () => {
  it("wakes the scanner each minute, and a tick that fails is left to the next one", () => {
    const resources = Object.values(resourcesOf(synth()));
    const never = { MaximumEventAgeInSeconds: 60, MaximumRetryAttempts: 0 };
    const rules = resources.filter(({ Type }) => Type === "AWS::Events::Rule");
    expect(rules.map(({ Properties }) => Properties)).toEqual([
      {
        ScheduleExpression: "rate(1 minute)",
        State: "ENABLED",
        Targets: [{ Arn: arn(ids.scanner), Id: "Target0", RetryPolicy: never }],
      },
    ]);
    const asyncInvokes = resources.filter(({ Type }) => Type === "AWS::Lambda::EventInvokeConfig");
    expect(asyncInvokes.map(({ Properties }) => Properties)).toEqual([
      { FunctionName: { Ref: ids.scanner }, Qualifier: "$LATEST", ...never },
    ]);
  });
});

describe("an update of a deployed stack", () => {
  it("finds table, bucket, queues, mappings and functions under the ids that they had", () => {
    expect(Object.keys(resourcesOf(synth()))).toEqual(expect.arrayContaining(Object.values(ids)));
  });

  it("gives nothing a physical name, so that a second stack of the account does not meet the first", () => {
    const named = Object.entries(resourcesOf(synth())).filter(([, { Type, Properties }]) =>
      Object.keys(Properties).some(
        (property) => Type !== "AWS::IAM::Policy" && /^(Table|Queue|LogGroup|Role|Bucket)?Name$/.test(property),
      ),
    );
    expect(named).toEqual([]);
  });

  it("tells what the command line and clients look for", () => {
    expect(Object.keys(synth().findOutputs("*")).sort()).toEqual([
      "CommandsFunctionName",
      "CommandsQueueUrl",
      "DispatchMappingId",
      "DispatchQueueUrl",
      "KeptOnDestroy",
      "Namespace",
      "RejectedQueueUrl",
      "RelayFunctionName",
      "ScanRuleName",
      "ScannerFunctionName",
      "StreamMappingId",
      "TableName",
      "ValuesBucketName",
      "WorkerFunctionName",
    ]);
  });
});

describe("a stack that cannot work is not synthesised", () => {
  it("names both numbers when two limits contradict each other", () => {
    const limits = { functionTimeoutMs: 900_000, queueVisibilityMs: 600_000 };
    expect(() => synth({ limits })).toThrow("functionTimeoutMs (900000) must be at most queueVisibilityMs (600000)");
  });

  it("names the limit that AWS cannot hold, since it counts whole seconds", () => {
    expect(() => synth({ limits: { functionTimeoutMs: 300_500 } })).toThrow(
      "functionTimeoutMs (300500) must be a whole number of seconds",
    );
  });

  it.each(["", "a b", "ä", "x".repeat(65)])("refuses the namespace %j with its rule", (namespace) => {
    expect(() => synth({ namespace })).toThrow(`namespace must be 1 to 64 of A-Z, a-z, 0-9, "_", "." and "-", got`);
  });

  it("names the module of tools that is not there", () => {
    expect(() => synth({ tools: "no/such/tools.ts" })).toThrow(
      'tools must be the path of an existing module, got "no/such/tools.ts"',
    );
  });
});
