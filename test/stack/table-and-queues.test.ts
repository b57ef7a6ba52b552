import { describe, expect, it } from "vitest";
import { arn, ids, resource, resourcesOf, synth } from "./synth.ts";

describe("the table", () => {
  it("hands each new image to the relay, lets items expire, and can be restored to any second", () => {
    expect(resource(synth(), ids.table)).toMatchObject({
      Type: "AWS::DynamoDB::GlobalTable",
      Properties: {
        BillingMode: "PAY_PER_REQUEST",
        KeySchema: [
          { AttributeName: "pk", KeyType: "HASH" },
          { AttributeName: "sk", KeyType: "RANGE" },
        ],
        StreamSpecification: { StreamViewType: "NEW_IMAGE" },
        TimeToLiveSpecification: { AttributeName: "expires_at", Enabled: true },
        Replicas: [{ PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true } }],
      },
    });
  });

  it("lists the living runs in an index by shard and time that holds keys only", () => {
    const { Properties } = resource(synth(), ids.table);
    expect(Properties.GlobalSecondaryIndexes).toEqual([
      {
        IndexName: "scan",
        KeySchema: [
          { AttributeName: "scan_shard", KeyType: "HASH" },
          { AttributeName: "scan_at_ms", KeyType: "RANGE" },
        ],
        Projection: { ProjectionType: "KEYS_ONLY" },
      },
    ]);
    expect(Properties.AttributeDefinitions).toEqual([
      { AttributeName: "pk", AttributeType: "S" },
      { AttributeName: "sk", AttributeType: "S" },
      { AttributeName: "scan_shard", AttributeType: "N" },
      { AttributeName: "scan_at_ms", AttributeType: "N" },
    ]);
  });

  it("survives the removal of its stack and refuses to be deleted", () => {
    expect(resource(synth(), ids.table)).toMatchObject({
      // And not RetainExceptOnCreate: a first deploy that fails would try to delete it, and could not.
      DeletionPolicy: "Retain",
      UpdateReplacePolicy: "Retain",
      Properties: { Replicas: [{ DeletionProtectionEnabled: true }] },
    });
  });

  it("goes with its stack, unprotected, where the deployer says that it is removable", () => {
    expect(resource(synth({ removable: true }), ids.table)).toMatchObject({
      DeletionPolicy: "Delete",
      UpdateReplacePolicy: "Delete",
      Properties: { Replicas: [{ DeletionProtectionEnabled: false }] },
    });
  });
});

const allQueues = [
  ids.commandsQueue,
  ids.commandsDeadLetters,
  ids.dispatchQueue,
  ids.dispatchDeadLetters,
  ids.rejectedQueue,
  ids.streamFailures,
];

describe("the queues", () => {
  it("are encrypted, each of them", () => {
    const template = synth();
    const found = Object.entries(resourcesOf(template)).filter(([, { Type }]) => Type === "AWS::SQS::Queue");
    expect(found.map(([id]) => id).sort()).toEqual([...allQueues].sort());
    for (const [, { Properties }] of found) expect(Properties.SqsManagedSseEnabled).toBe(true);
  });

  it("deny whoever comes without TLS, each of them", () => {
    const policies = Object.values(resourcesOf(synth())).filter(({ Type }) => Type === "AWS::SQS::QueuePolicy");
    const guarded = policies.flatMap(({ Properties }) => Properties.Queues);
    expect(guarded).toHaveLength(allQueues.length);
    expect(guarded).toEqual(expect.arrayContaining(allQueues.map((id) => ({ Ref: id }))));
    for (const { Properties } of policies)
      expect(Properties.PolicyDocument).toMatchObject({
        Statement: [{ Effect: "Deny", Action: "sqs:*", Condition: { Bool: { "aws:SecureTransport": "false" } } }],
      });
  });

  it("set a message aside after the last receive, and keep it there longer than it could have waited before", () => {
    const template = synth();
    for (const [queue, deadLetters] of [
      [ids.commandsQueue, ids.commandsDeadLetters],
      [ids.dispatchQueue, ids.dispatchDeadLetters],
    ] as const) {
      expect(resource(template, queue).Properties).toMatchObject({
        RedrivePolicy: { deadLetterTargetArn: arn(deadLetters), maxReceiveCount: 100 },
        MessageRetentionPeriod: 4 * 86_400,
      });
      expect(resource(template, deadLetters).Properties.MessageRetentionPeriod).toBe(14 * 86_400);
    }
  });

  it("keep what was refused, and where the stream failed, for fourteen days", () => {
    const template = synth();
    for (const id of [ids.rejectedQueue, ids.streamFailures])
      expect(resource(template, id).Properties.MessageRetentionPeriod).toBe(14 * 86_400);
  });

  it("give a command that failed back after six timeouts of its function, and not after a tool's half hour", () => {
    expect(resource(synth(), ids.commandsQueue).Properties.VisibilityTimeout).toBe(360);
    const short = synth({ limits: { queueVisibilityMs: 300_000 } });
    expect(resource(short, ids.commandsQueue).Properties.VisibilityTimeout).toBe(300);
  });

  it("hide a message at least as long as its function may run, also when a deployer changes both", () => {
    const limits = {
      functionTimeoutMs: 20_000,
      attemptLimitMs: 10_000,
      reconcileTimeoutMs: 10_000,
      plainFunctionTimeoutMs: 40_000,
      queueVisibilityMs: 40_000,
    };
    for (const template of [synth(), synth({ limits })])
      for (const [queue, consumer] of [
        [ids.commandsQueue, ids.commands],
        [ids.dispatchQueue, ids.worker],
      ] as const)
        expect(resource(template, queue).Properties.VisibilityTimeout).toBeGreaterThanOrEqual(
          Number(resource(template, consumer).Properties.Timeout),
        );
  });
});
