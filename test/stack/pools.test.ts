/** A pool: a function, a queue with dead letters and a mapping of its own, which the senders know and nobody else may use. */
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { allowedTo, on } from "./allowed.ts";
import { arn, functionIds, ids, resource, resourcesOf, someTools, synth } from "./synth.ts";

const pooled = () =>
  synth({
    limits: { leaseMs: 60_000 },
    worker: { environment: { PAY_URL: "https://pay.example" } },
    pools: {
      heavy: {
        tools: someTools,
        memoryMiB: 4_096,
        maxConcurrency: 4,
        batchSize: 2,
        environment: { CHROME: "/opt/chrome" },
        limits: { functionTimeoutMs: 900_000, attemptLimitMs: 600_000, maxReceives: 20 },
      },
    },
  });

/** Logical ids that a pool's messages hang on, as those of the main worker do. */
const pool = {
  worker: "LeaseholdPoolheavyWorkerFunction",
  queue: "LeaseholdPoolheavyDispatchQueue",
  deadLetters: "LeaseholdPoolheavyDispatchDeadLetters",
  mapping: "LeaseholdPoolheavyDispatchMapping",
};

const idOf = (start: string): string => {
  const found = Object.keys(resourcesOf(pooled())).filter((id) => new RegExp(`^${start}[0-9A-F]{8}$`).test(id));
  expect(found).toHaveLength(1);
  return found[0] ?? "";
};
const found = (start: string) => resource(pooled(), idOf(start)).Properties;
const variablesOf = (id: string): Readonly<Record<string, unknown>> =>
  z.object({ Variables: z.record(z.string(), z.unknown()) }).parse(resource(pooled(), id).Properties.Environment)
    .Variables;

describe("a pool", () => {
  it("has a function with memory, time and environment of its own", () => {
    expect(found(pool.worker)).toMatchObject({ MemorySize: 4_096, Timeout: 900, RecursiveLoop: "Allow" });
    expect(variablesOf(idOf(pool.worker))).toMatchObject({
      CHROME: "/opt/chrome",
      LEASEHOLD_POOL: "heavy",
      LEASEHOLD_DISPATCH_QUEUE_URL: { Ref: idOf(pool.queue) },
      LEASEHOLD_TABLE: { Ref: ids.table },
      LEASEHOLD_NAMESPACE: "test",
    });
    expect(variablesOf(idOf(pool.worker))).not.toHaveProperty("PAY_URL");
    expect(resource(pooled(), ids.worker).Properties).toMatchObject({ MemorySize: 512, Timeout: 300 });
    expect(variablesOf(ids.worker)).not.toHaveProperty("LEASEHOLD_POOL");
  });

  it("is told the deployment's limits with its own over them", () => {
    expect(JSON.parse(String(variablesOf(idOf(pool.worker)).LEASEHOLD_LIMITS))).toEqual({
      leaseMs: 60_000,
      functionTimeoutMs: 900_000,
      attemptLimitMs: 600_000,
      maxReceives: 20,
    });
    expect(JSON.parse(String(variablesOf(ids.worker).LEASEHOLD_LIMITS))).toEqual({ leaseMs: 60_000 });
  });

  it("has a queue whose messages are set aside in a queue of its own", () => {
    expect(found(pool.queue)).toMatchObject({
      RedrivePolicy: { deadLetterTargetArn: arn(idOf(pool.deadLetters)), maxReceiveCount: 20 },
      VisibilityTimeout: 1_800,
      SqsManagedSseEnabled: true,
    });
  });

  it("has a mapping of its own", () => {
    expect(found(pool.mapping)).toEqual({
      EventSourceArn: arn(idOf(pool.queue)),
      FunctionName: { Ref: idOf(pool.worker) },
      BatchSize: 2,
      ScalingConfig: { MaximumConcurrency: 4 },
      FunctionResponseTypes: ["ReportBatchItemFailures"],
    });
  });

  it("may use its own queue and neither the main worker's nor, the other way round, the main worker the pool's", () => {
    const own = allowedTo(pooled(), "LeaseholdPoolheavyWorkerRole");
    const logs = Object.keys(resourcesOf(pooled())).find((id) => id.startsWith("LeaseholdPoolheavyWorkerLogs")) ?? "";
    expect(own).toEqual(
      [
        ...on(arn(ids.table), "dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:UpdateItem"),
        ...on({ "Fn::Join": ["", [arn(ids.valuesBucket), "/*"]] }, "s3:GetObject", "s3:PutObject"),
        ...on(
          arn(idOf(pool.queue)),
          "sqs:ChangeMessageVisibility",
          "sqs:DeleteMessage",
          "sqs:GetQueueAttributes",
          "sqs:GetQueueUrl",
          "sqs:ReceiveMessage",
        ),
        ...on(arn(ids.rejectedQueue), "sqs:SendMessage"),
        ...on(arn(logs), "logs:CreateLogStream", "logs:PutLogEvents"),
      ].sort(),
    );
    for (const grant of allowedTo(pooled(), "LeaseholdWorkerRole")) expect(grant).not.toContain("Poolheavy");
  });

  it("is where relay and scanner may send, and they are told its queue's address", () => {
    const urls = { "Fn::Join": ["", ['{"heavy":"', { Ref: idOf(pool.queue) }, '"}']] };
    for (const [id, role] of [
      [ids.relay, "LeaseholdRelayRole"],
      [ids.scanner, "LeaseholdScannerRole"],
    ] as const) {
      expect(variablesOf(id)).toMatchObject({
        LEASEHOLD_DISPATCH_QUEUE_URL: { Ref: ids.dispatchQueue },
        LEASEHOLD_POOL_QUEUE_URLS: urls,
      });
      expect(allowedTo(pooled(), role)).toEqual(
        expect.arrayContaining([...on(arn(idOf(pool.queue)), "sqs:SendMessage")]),
      );
    }
  });

  it("has limits that the commands know, to check the tools' own numbers", () => {
    expect(JSON.parse(String(variablesOf(ids.commands).LEASEHOLD_POOL_LIMITS))).toEqual({
      heavy: { leaseMs: 60_000, functionTimeoutMs: 900_000, attemptLimitMs: 600_000, maxReceives: 20 },
    });
  });

  it("stands in an output with what a person needs to look at it", () => {
    const value = JSON.stringify(pooled().findOutputs("Pools").Pools?.Value);
    for (const part of [pool.queue, pool.worker, pool.mapping]) expect(value).toContain(idOf(part));
  });
});

it("a deployment without pools is what it was before there were pools", () => {
  for (const id of functionIds) {
    const { Variables } = z
      .object({ Variables: z.record(z.string(), z.unknown()) })
      .parse(resource(synth(), id).Properties.Environment);
    expect(Object.keys(Variables).filter((name) => name.includes("POOL"))).toEqual([]);
  }
  expect(synth().findOutputs("Pools")).toEqual({});
  expect(Object.keys(resourcesOf(pooled()))).toEqual(expect.arrayContaining(Object.values(ids)));
});

it("a second pool renames nothing of the first, whichever is named before the other", () => {
  const of = (...names: readonly string[]) =>
    Object.entries(
      resourcesOf(
        synth({ alarms: true, pools: Object.fromEntries(names.map((name) => [name, { tools: someTools }])) }),
      ),
    );
  const first = of("heavy").map(([id, { Type }]) => `${Type} ${id}`);
  for (const both of [of("heavy", "light"), of("light", "heavy")])
    expect(both.map(([id, { Type }]) => `${Type} ${id}`)).toEqual(expect.arrayContaining(first));
});
