/**
 * What things cost in us-east-1, in US dollars, without free tiers and discounts for volume. Each with the page that it was
 * read on and the day that the page gives itself; AWS's own price pages could mostly be had only without their tables.
 */

export type Price = {
  readonly usd: number;
  readonly per: string;
  readonly page: string;
  /** As the page says; undefined where it says none. */
  readonly dated: string | undefined;
};

const million = 1_000_000;

export const prices = {
  writeUnit: {
    usd: 0.625 / million,
    per: "DynamoDB write request unit, on demand (since 2024-11)",
    page: "airbyte.com/data-engineering-resources/dynamodb-pricing",
    dated: "2025-07-21",
  },
  readUnit: {
    usd: 0.125 / million,
    per: "DynamoDB read request unit, on demand (since 2024-11)",
    page: "airbyte.com/data-engineering-resources/dynamodb-pricing",
    dated: "2025-07-21",
  },
  sqsRequest: {
    usd: 0.4 / million,
    per: "SQS request, standard queue, of up to 64 KB",
    page: "factualminds.com/blog/amazon-sqs-pricing-64kb-rule-fifo-vs-standard",
    dated: "2026-06-13",
  },
  lambdaRequest: {
    usd: 0.2 / million,
    per: "Lambda request",
    page: "wring.co/blog/aws-lambda-pricing-guide",
    dated: "2026-03-08",
  },
  lambdaGbSecond: {
    usd: 0.0000133334,
    per: "Lambda GB-second, arm64",
    page: "wring.co/blog/aws-lambda-pricing-guide",
    dated: "2026-03-08",
  },
  logByte: {
    usd: 0.5 / 1_000_000_000,
    per: "byte taken in by CloudWatch Logs",
    page: "c3x.dev/blog/cloudwatch-logs-cost-optimization",
    dated: "2026-06",
  },
  blobPut: {
    usd: 0.005 / 1_000,
    per: "S3 PUT (outputs above 16 KiB only)",
    page: "c3x.dev/blog/s3-request-fees-explained",
    dated: undefined,
  },
  blobGet: {
    usd: 0.0004 / 1_000,
    per: "S3 GET (of such outputs)",
    page: "c3x.dev/blog/s3-request-fees-explained",
    dated: undefined,
  },
  stateTransition: {
    usd: 0.025 / 1_000,
    per: "state transition of Step Functions Standard",
    page: "aws.amazon.com/step-functions/pricing; wring.co/blog/aws-step-functions-pricing-guide",
    dated: "2026-03-14",
  },
  customMetric: {
    usd: 0.3,
    per: "custom metric of CloudWatch and month in which it is written",
    page: "cal53.calculator.city/cloudwatch-custom-metrics-calculator",
    dated: undefined,
  },
} as const satisfies Record<string, Price>;

export type PriceName = keyof typeof prices;
