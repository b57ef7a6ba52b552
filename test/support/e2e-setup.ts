/** Set-up of the end-to-end tests: one local AWS, or the one that AWS_ENDPOINT_URL names, and one deploy of all stacks. */
import { createServer } from "node:net";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { deploy } from "../../cli/local/deploy.ts";
import { startMinistack } from "../../cli/local/ministack.ts";
import { projectRoot } from "../../cli/local/workspace.ts";
import type { TestStack } from "./app.ts";
import {
  type Deployed,
  type Ports,
  type StackName,
  type StackPlan,
  shortLimits,
  stackNames,
  stackPlans,
} from "./e2e-stacks.ts";

declare module "vitest" {
  export interface ProvidedContext {
    readonly e2e: Deployed;
  }
}

/** Whatever fails here fails the tests: without an emulator none of them is skipped. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const given = process.env.AWS_ENDPOINT_URL;
  const local = given === undefined || given === "" ? await startMinistack(logOption()) : undefined;
  const endpoint = local?.endpoint ?? given ?? "";
  const stop = async () => local?.stop();
  try {
    const ports = await choosePorts();
    const stacks = stackNames.map((name) => testStack(name, ports));
    const outputs = await deploy({
      endpoint,
      app: "node --import tsx test/support/app.ts",
      env: { LEASEHOLD_TEST_STACKS: JSON.stringify(stacks) },
      quiet: true,
    });
    project.provide("e2e", {
      endpoint,
      ports,
      stackNames: forEach(cloudName),
      outputs: forEach((name) => outputs[cloudName(name)] ?? {}),
    });
  } catch (error) {
    await stop();
    throw error;
  }
  return stop;
}

/** Where the emulator's log, with all that the functions print, is kept; for looking into a failure. */
const logOption = () => (process.env.LEASEHOLD_E2E_LOG ? { log: process.env.LEASEHOLD_E2E_LOG } : {});

const cloudName = (name: StackName): string => `E2e-${name}`;
const loopback = (port: number): string => `http://127.0.0.1:${port}`;

function testStack(name: StackName, ports: Ports): TestStack {
  const plan: StackPlan = stackPlans[name];
  const endpoints = Object.entries(ports.proxies[name]).map(([called, port]) => [
    called,
    { dynamodb: loopback(port), sqs: loopback(port) },
  ]);
  return {
    name: cloudName(name),
    namespace: `e2e-${name}`,
    limits: shortLimits,
    tools: join(projectRoot, "test", "support", "tools", "index.ts"),
    worker: {
      environment: { PROVIDER_URL: loopback(ports.provider), GATE_URL: loopback(ports.gate) },
      ...(plan.gated ? { entry: join(projectRoot, "test", "support", "worker-entry.ts") } : {}),
    },
    ...(plan.pooled ? { pools: { heavy: { tools: join(projectRoot, "test", "support", "tools", "heavy.ts") } } } : {}),
    endpoints: Object.fromEntries(endpoints),
    ...(plan.disabled ? { disabled: plan.disabled } : {}),
  };
}

const forEach = <Value>(make: (name: StackName) => Value) =>
  Object.fromEntries(stackNames.map((name) => [name, make(name)])) as Record<StackName, Value>;

async function choosePorts(): Promise<Ports> {
  const taken = new Set<number>();
  const proxies: Record<string, Record<string, number>> = {};
  for (const name of stackNames) {
    proxies[name] = {};
    for (const called of stackPlans[name].proxied) proxies[name][called] = await freePort(taken);
  }
  return {
    provider: await freePort(taken),
    gate: await freePort(taken),
    proxies: proxies as Ports["proxies"],
  };
}

/** Below the ports that systems give to outgoing connections, one of which could otherwise hold it when a test wants it. */
async function freePort(taken: Set<number>): Promise<number> {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 12_000);
    if (taken.has(port) || !(await isFree(port))) continue;
    taken.add(port);
    return port;
  }
}

const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer();
    server.on("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
