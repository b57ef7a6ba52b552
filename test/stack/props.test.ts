/** What each prop does to the template, and what a deployment gives to the app that it stands in. */
import { NestedStack, Stack, Stage } from "aws-cdk-lib";
import { Template } from "aws-cdk-lib/assertions";
import * as ec2 from "aws-cdk-lib/aws-ec2";
import * as iam from "aws-cdk-lib/aws-iam";
import * as lambda from "aws-cdk-lib/aws-lambda";
import { describe, expect, it } from "vitest";
import { Leasehold } from "../../infra/leasehold.ts";
import { allowedTo, on } from "./allowed.ts";
import { arn, functionIds, ids, plainApp, resource, resourcesOf, someTools, synth } from "./synth.ts";

/** A deployment in a stack of a deployer's own, with what the deployer makes there besides. */
function beside<Made>(make: (stack: Stack) => Made, propsOf: (made: Made) => object = () => ({})) {
  const stack = new Stack(plainApp(), "Shop");
  const made = make(stack);
  const leasehold = new Leasehold(stack, "Leasehold", { namespace: "test", tools: someTools, ...propsOf(made) });
  return { stack, made, leasehold, template: () => Template.fromStack(stack) };
}

const subnetIds = ["subnet-12345678", "subnet-87654321"];
const someVpc = (stack: Stack): ec2.IVpc =>
  ec2.Vpc.fromVpcAttributes(stack, "Vpc", {
    vpcId: "vpc-12345678",
    availabilityZones: ["a", "b"],
    privateSubnetIds: subnetIds,
    privateSubnetRouteTableIds: ["rtb-12345678", "rtb-12345678"],
  });

describe("the worker", () => {
  it("has the memory, the batch and the concurrency that are asked for, and else its defaults", () => {
    const template = synth({ worker: { memoryMiB: 2_048, batchSize: 5, maxConcurrency: 20 } });
    expect(resource(template, ids.worker).Properties.MemorySize).toBe(2_048);
    expect(resource(template, ids.dispatchMapping).Properties).toMatchObject({
      BatchSize: 5,
      ScalingConfig: { MaximumConcurrency: 20 },
    });
    expect(resource(synth(), ids.worker).Properties.MemorySize).toBe(512);
    expect(resource(synth(), ids.dispatchMapping).Properties).not.toHaveProperty("ScalingConfig");
  });

  it("runs in the VPC that is named, with the right to its network interfaces and no managed policy", () => {
    const { template } = beside(
      (stack) => someVpc(stack),
      (vpc) => ({ worker: { vpc } }),
    );
    const found = template();
    expect(resource(found, ids.worker).Properties.VpcConfig).toMatchObject({
      SubnetIds: subnetIds,
      SecurityGroupIds: [expect.anything()],
    });
    expect(resource(found, ids.commands).Properties).not.toHaveProperty("VpcConfig");
    expect(allowedTo(found, "LeaseholdWorkerRole").filter((grant) => grant.startsWith("ec2:"))).toEqual(
      on(
        "*",
        "ec2:AssignPrivateIpAddresses",
        "ec2:CreateNetworkInterface",
        "ec2:DeleteNetworkInterface",
        "ec2:DescribeNetworkInterfaces",
        "ec2:DescribeSubnets",
        "ec2:UnassignPrivateIpAddresses",
      ),
    );
    for (const { Type, Properties } of Object.values(resourcesOf(found)))
      if (Type === "AWS::IAM::Role") expect(Properties).not.toHaveProperty("ManagedPolicyArns");
  });

  it("has the security groups and subnets that are named", () => {
    const { template } = beside(
      (stack) => {
        const vpc = someVpc(stack);
        return { vpc, group: new ec2.SecurityGroup(stack, "Group", { vpc }) };
      },
      ({ vpc, group }) => ({
        worker: { vpc, securityGroups: [group], vpcSubnets: { subnets: vpc.privateSubnets.slice(1) } },
      }),
    );
    expect(resource(template(), ids.worker).Properties.VpcConfig).toMatchObject({
      SubnetIds: subnetIds.slice(1),
      SecurityGroupIds: [{ "Fn::GetAtt": [expect.stringContaining("Group"), "GroupId"] }],
    });
  });

  it("brings its layers to the commands as well, which import the same tools, and to nobody else", () => {
    const layerArn = "arn:aws:lambda:eu-west-1:123456789012:layer:chrome:3";
    const { template } = beside(
      (stack) => lambda.LayerVersion.fromLayerVersionArn(stack, "Chrome", layerArn),
      (layer) => ({ worker: { layers: [layer] }, pools: { heavy: { tools: someTools, layers: [layer] } } }),
    );
    const layers = functionIds.map((id) => resource(template(), id).Properties.Layers);
    expect(layers).toEqual([[layerArn], undefined, [layerArn], undefined]);
  });
});

describe("the log level", () => {
  it.each(["debug", "info", "warn", "error"] as const)("%s is what the functions write", (logLevel) => {
    const template = synth({ logLevel, pools: { heavy: { tools: someTools } } });
    const functions = Object.values(resourcesOf(template)).filter(({ Type }) => Type === "AWS::Lambda::Function");
    expect(functions).toHaveLength(5);
    for (const { Properties } of functions)
      expect(Properties).toMatchObject({
        Environment: { Variables: { POWERTOOLS_LOG_LEVEL: logLevel.toUpperCase() } },
      });
  });

  it.each([
    ["debug", "DEBUG"],
    ["info", "INFO"],
    ["warn", "INFO"],
    ["error", "INFO"],
  ] as const)(
    "%s lets through what Lambda takes for %s: metrics, which have no level, are not dropped",
    (logLevel, kept) => {
      for (const id of functionIds)
        expect(resource(synth({ logLevel }), id).Properties).toMatchObject({
          LoggingConfig: { ApplicationLogLevel: kept },
        });
    },
  );

  it("is info where nobody says another", () => {
    for (const id of functionIds)
      expect(resource(synth(), id).Properties).toMatchObject({ LoggingConfig: { ApplicationLogLevel: "INFO" } });
  });
});

describe("alarms", () => {
  const alarmsOf = (props: Parameters<typeof synth>[0]) =>
    Object.entries(resourcesOf(synth(props))).filter(([, { Type }]) => Type === "AWS::CloudWatch::Alarm");
  const nameOf = (id: string) => id.replace(/^LeaseholdAlarms|[0-9A-F]{8}$/g, "");

  it("are none unless they are asked for", () => {
    expect(alarmsOf({})).toEqual([]);
  });

  it("ring for whatever waits for a person: in each dead-letter queue, pools' too, and what was rejected or not relayed", () => {
    const alarms = alarmsOf({ alarms: true, pools: { heavy: { tools: someTools } } });
    expect(alarms.map(([id]) => nameOf(id)).sort()).toEqual([
      "CommandsDeadLettersNotEmpty",
      "CommandsOld",
      "DispatchDeadLettersNotEmpty",
      "DispatchOld",
      "PoolheavyDeadLettersNotEmpty",
      "PoolheavyOld",
      "RejectedNotEmpty",
      "ScannerFails",
      "ScannerSleeps",
      "StreamFailuresNotEmpty",
    ]);
    const byName = Object.fromEntries(alarms.map(([id, { Properties }]) => [nameOf(id), Properties]));
    expect(byName.DispatchDeadLettersNotEmpty).toMatchObject({
      MetricName: "ApproximateNumberOfMessagesVisible",
      Dimensions: [{ Name: "QueueName", Value: { "Fn::GetAtt": [ids.dispatchDeadLetters, "QueueName"] } }],
      Threshold: 1,
      ComparisonOperator: "GreaterThanOrEqualToThreshold",
      TreatMissingData: "notBreaching",
    });
    expect(byName.ScannerSleeps).toMatchObject({
      MetricName: "Invocations",
      ComparisonOperator: "LessThanThreshold",
      TreatMissingData: "breaching",
    });
  });

  it("ring for a message older than three invocations of its own function", () => {
    const alarms = alarmsOf({
      alarms: true,
      pools: { heavy: { tools: someTools, limits: { functionTimeoutMs: 600_000 } } },
    });
    const ages = alarms.flatMap(([id, { Properties }]) =>
      Properties.MetricName === "ApproximateAgeOfOldestMessage" ? [[nameOf(id), Properties.Threshold]] : [],
    );
    expect(Object.fromEntries(ages)).toEqual({ CommandsOld: 180, DispatchOld: 900, PoolheavyOld: 1_800 });
  });

  it.each(["Dispatch", "Commands", "Rejected", "Scanner"])(
    "of a pool that is called %s take the place of no other alarm",
    (pool) => {
      expect(alarmsOf({ alarms: true, pools: { [pool]: { tools: someTools } } })).toHaveLength(10);
    },
  );

  it("are handed to the app, which says whom they tell", () => {
    const { leasehold } = beside(
      () => undefined,
      () => ({ alarms: true }),
    );
    expect(leasehold.alarms).toHaveLength(8);
    expect(beside(() => undefined).leasehold.alarms).toEqual([]);
  });
});

describe("an app's own role", () => {
  const granted = (grant: (leasehold: Leasehold, role: iam.Role) => iam.Grant) => {
    const { template, leasehold, made } = beside(
      (stack) => new iam.Role(stack, "Caller", { assumedBy: new iam.AccountRootPrincipal() }),
    );
    expect(grant(leasehold, made).success).toBe(true);
    return allowedTo(template(), "Caller");
  };

  it("that may start runs sends to the commands queue and does nothing else", () => {
    expect(granted((leasehold, role) => leasehold.grantStart(role))).toEqual(
      on(arn(ids.commandsQueue), "sqs:SendMessage"),
    );
  });

  it("that may read runs reads items, the list of the living runs and outputs, and writes nothing", () => {
    expect(granted((leasehold, role) => leasehold.grantRead(role))).toEqual(
      [
        ...on(arn(ids.table), "dynamodb:GetItem", "dynamodb:Query"),
        ...on({ "Fn::Join": ["", [arn(ids.table), "/index/scan"]] }, "dynamodb:Query"),
        ...on({ "Fn::Join": ["", [arn(ids.valuesBucket), "/*"]] }, "s3:GetObject"),
      ].sort(),
    );
  });

  it("is not needed by the tools, whose function takes rights as any function does", () => {
    const { leasehold, made, template } = beside((stack) => new iam.User(stack, "Anyone"));
    leasehold.worker.addToRolePolicy(
      new iam.PolicyStatement({ actions: ["ses:SendEmail"], resources: [made.userArn] }),
    );
    expect(allowedTo(template(), "LeaseholdWorkerRole")).toContainEqual(expect.stringContaining("ses:SendEmail"));
  });
});

describe("the outputs", () => {
  const names = (stack: Stack) => Object.keys(Template.fromStack(stack).findOutputs("*"));

  it("have the names that clients look for in whatever stack the deployment stands", () => {
    expect(names(beside(() => undefined).stack)).toEqual(expect.arrayContaining(["TableName", "CommandsQueueUrl"]));
  });

  it("are left out for an app that wants none", () => {
    const { stack } = beside(
      () => undefined,
      () => ({ outputs: false }),
    );
    expect(names(stack)).toEqual([]);
  });

  it("say what is kept when the stack is destroyed", () => {
    const kept = (props: Parameters<typeof synth>[0]) =>
      JSON.stringify(synth(props).findOutputs("KeptOnDestroy").KeptOnDestroy?.Value);
    expect(kept({})).toContain(ids.table);
    expect(kept({})).toContain(ids.valuesBucket);
    expect(kept({})).toContain("log groups");
    expect(kept({ removable: true })).toContain("nothing");
  });
});

describe("two deployments of different namespaces", () => {
  const pair = (scopes: () => readonly [Stack, Stack]) => {
    const [one, two] = scopes();
    new Leasehold(one, "Orders", { namespace: "orders", tools: someTools });
    new Leasehold(two, "Mails", { namespace: "mails", tools: someTools });
    return [Template.fromStack(one), Template.fromStack(two)] as const;
  };

  it("stand side by side in one stack: nothing is shared, and the second one's outputs have its id before them", () => {
    const [template] = pair(() => {
      const stack = new Stack(plainApp(), "Shop");
      return [stack, stack];
    });
    const tables = Object.entries(resourcesOf(template)).filter(
      ([, { Type }]) => Type === "AWS::DynamoDB::GlobalTable",
    );
    expect(tables.map(([id]) => id.replace(/[0-9A-F]{8}$/, "")).sort()).toEqual([
      "MailsStateTable",
      "OrdersStateTable",
    ]);
    const outputs = template.findOutputs("*");
    expect(outputs.Namespace?.Value).toBe("orders");
    expect(outputs.MailsNamespace?.Value).toBe("mails");
    expect(outputs.MailsTableName?.Value).toEqual({ Ref: expect.stringMatching(/^MailsStateTable/) });
    for (const grant of allowedTo(template, "MailsWorkerRole")) expect(grant).not.toContain("Orders");
  });

  it("stand in two stacks of one account, each with the plain names and none of a physical kind", () => {
    const [one, two] = pair(() => {
      const app = plainApp();
      return [new Stack(app, "Orders"), new Stack(app, "Mails")];
    });
    expect(one.findOutputs("Namespace").Namespace?.Value).toBe("orders");
    expect(two.findOutputs("Namespace").Namespace?.Value).toBe("mails");
  });
});

describe("a deployment that stands elsewhere than in a stack of the app", () => {
  it("is whole in a nested stack, and the stack around it may start and read runs", () => {
    const shop = new Stack(plainApp(), "Shop");
    const nested = new NestedStack(shop, "Runs");
    const leasehold = new Leasehold(nested, "Leasehold", {
      namespace: "test",
      tools: someTools,
      alarms: true,
      pools: { heavy: { tools: someTools } },
    });
    const caller = new iam.Role(shop, "Caller", { assumedBy: new iam.AccountRootPrincipal() });
    leasehold.grantStart(caller);
    leasehold.grantRead(caller);
    expect(Object.keys(Template.fromStack(nested).findOutputs("*"))).toEqual(
      expect.arrayContaining(["TableName", "CommandsQueueUrl", "Pools"]),
    );
    expect(allowedTo(Template.fromStack(shop), "Caller").map((grant) => grant.split(" ")[0])).toEqual([
      "dynamodb:GetItem",
      "dynamodb:Query",
      "dynamodb:Query",
      "s3:GetObject",
      "sqs:SendMessage",
    ]);
  });

  it("is the same in a stage as in an app", () => {
    const stage = new Stage(plainApp(), "Prod", { env: { account: "123456789012", region: "eu-west-1" } });
    const stack = new Stack(stage, "Shop");
    new Leasehold(stack, "Leasehold", { namespace: "test", tools: someTools });
    expect(Object.keys(resourcesOf(Template.fromStack(stack)))).toEqual(expect.arrayContaining(Object.values(ids)));
  });

  it.each<readonly [string, (stack: Stack) => iam.IGrantable]>([
    ["role", (stack) => new iam.Role(stack, "Caller", { assumedBy: new iam.AccountRootPrincipal() })],
    ["user", (stack) => new iam.User(stack, "Caller")],
    ["imported role", (stack) => iam.Role.fromRoleArn(stack, "Caller", "arn:aws:iam::123456789012:role/caller")],
  ])("is started and read by a %s of another stack, and knows nothing of it", (_, make) => {
    const app = plainApp();
    const own = new Stack(app, "Runs");
    const leasehold = new Leasehold(own, "Leasehold", { namespace: "test", tools: someTools });
    const other = new Stack(app, "Shop");
    const caller = make(other);
    expect(leasehold.grantStart(caller).success && leasehold.grantRead(caller).success).toBe(true);
    const policies = Object.values(resourcesOf(Template.fromStack(other))).filter(
      ({ Type }) => Type === "AWS::IAM::Policy",
    );
    for (const action of ["sqs:SendMessage", "dynamodb:GetItem", "dynamodb:Query", "s3:GetObject"])
      expect(JSON.stringify(policies)).toContain(action);
    expect(own.dependencies).toEqual([]);
    expect(JSON.stringify(resourcesOf(Template.fromStack(own)))).not.toContain("Shop");
  });
});
