import { describe, expect, it } from "vitest";
import { fixed } from "../../shared/limits.ts";
import { arn, ids, resource, resourcesOf, synth } from "./synth.ts";

const dayMs = 86_400_000;

const expiresAfterDays = (template: ReturnType<typeof synth>): number => {
  const { LifecycleConfiguration } = resource(template, ids.valuesBucket).Properties;
  expect(LifecycleConfiguration).toEqual({
    Rules: [{ Id: "outlives-its-node", Status: "Enabled", ExpirationInDays: expect.any(Number) }],
  });
  return Number(Reflect.get(Object(Reflect.get(Object(LifecycleConfiguration), "Rules")[0]), "ExpirationInDays"));
};

describe("the bucket for large outputs", () => {
  it("is encrypted, closed to the public, and knows one owner", () => {
    expect(resource(synth(), ids.valuesBucket).Properties).toMatchObject({
      BucketEncryption: {
        ServerSideEncryptionConfiguration: [{ ServerSideEncryptionByDefault: { SSEAlgorithm: "AES256" } }],
      },
      PublicAccessBlockConfiguration: {
        BlockPublicAcls: true,
        BlockPublicPolicy: true,
        IgnorePublicAcls: true,
        RestrictPublicBuckets: true,
      },
      OwnershipControls: { Rules: [{ ObjectOwnership: "BucketOwnerEnforced" }] },
    });
  });

  it("denies whoever comes without TLS", () => {
    const policies = Object.values(resourcesOf(synth())).filter(({ Type }) => Type === "AWS::S3::BucketPolicy");
    expect(policies.map(({ Properties }) => Properties)).toMatchObject([
      {
        Bucket: { Ref: ids.valuesBucket },
        PolicyDocument: {
          Statement: [
            {
              Effect: "Deny",
              Action: "s3:*",
              Resource: [arn(ids.valuesBucket), { "Fn::Join": ["", [arn(ids.valuesBucket), "/*"]] }],
              Condition: { Bool: { "aws:SecureTransport": "false" } },
            },
          ],
        },
      },
    ]);
  });

  it.each([30, 90])(
    "keeps an object longer than the node of the longest run, kept for %i days, can point to it",
    (days) => {
      const expiry = expiresAfterDays(synth({ limits: { retentionMs: days * dayMs } }));
      expect(expiry * dayMs).toBeGreaterThanOrEqual(fixed.runDeadlineMs + days * dayMs + fixed.expiryDelayMs);
    },
  );

  it("survives the removal of its stack, and goes with it where the deployer says so, with no function to empty it", () => {
    expect(resource(synth(), ids.valuesBucket)).toMatchObject({
      DeletionPolicy: "RetainExceptOnCreate",
      UpdateReplacePolicy: "Retain",
    });
    const removable = synth({ removable: true });
    expect(resource(removable, ids.valuesBucket)).toMatchObject({
      DeletionPolicy: "Delete",
      UpdateReplacePolicy: "Delete",
    });
    for (const template of [synth(), removable])
      expect(Object.values(resourcesOf(template)).filter(({ Type }) => Type.startsWith("Custom::"))).toEqual([]);
  });
});
