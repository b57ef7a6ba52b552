/** Each wrong prop is refused with its field, its rule and what came, before anything is made. */
import { statSync } from "node:fs";
import { resolve } from "node:path";
import { Token } from "aws-cdk-lib";
import { type LeaseholdProps, type LogLevel, logLevels, type WorkerProps } from "./props.ts";

const wrong = (field: string, rule: string, value: unknown): Error =>
  new Error(`${field} must ${rule}, got ${JSON.stringify(value) ?? String(value)}`);

export function checkedNamespace(namespace: string): string {
  if (typeof namespace === "string" && /^[A-Za-z0-9_.-]{1,64}$/.test(namespace)) return namespace;
  throw wrong("namespace", `be 1 to 64 of A-Z, a-z, 0-9, "_", "." and "-"`, namespace);
}

/** @returns the absolute path. */
export function existingModule(field: string, path: string): string {
  const absolute = typeof path === "string" && path !== "" ? resolve(path) : undefined;
  if (absolute !== undefined && statSync(absolute, { throwIfNoEntry: false })?.isFile()) return absolute;
  const fault = wrong(field, "be the path of an existing module", path);
  // A relative one begins where the app runs, which is not always where its writer thinks.
  throw absolute === undefined ? fault : new Error(`${fault.message}, looked for at ${absolute}`);
}

export function checkedLogLevel(level: LogLevel): LogLevel {
  if (logLevels.includes(level)) return level;
  throw wrong("logLevel", `be one of ${logLevels.join(", ")}`, level);
}

/** What is said on a command line or in JSON may come as the text "false", which JavaScript takes for true. */
export function checkFlags(flags: Readonly<Record<string, boolean | undefined>>): void {
  for (const [field, value] of Object.entries(flags))
    if (value !== undefined && typeof value !== "boolean") throw wrong(field, "be true or false", value);
}

/** Ids of constructs are made of it, so it is also what a tool may say (`pool` of defineTool). */
export function checkedPools(pools: LeaseholdProps["pools"] = {}): NonNullable<LeaseholdProps["pools"]> {
  for (const [name, pool] of Object.entries(pools)) {
    if (!/^[A-Za-z0-9-]{1,40}$/.test(name))
      throw wrong("pools", `have names of 1 to 40 of A-Z, a-z, 0-9 and "-"`, name);
    const { tools: _tools, limits: _limits, ...worker } = pool;
    checkWorker(`pools.${name}`, worker, ["tools", "limits"]);
  }
  return pools;
}

const workerFields: Readonly<Record<keyof WorkerProps, true>> = {
  entry: true,
  environment: true,
  memoryMiB: true,
  vpc: true,
  vpcSubnets: true,
  securityGroups: true,
  layers: true,
  bundling: true,
  batchSize: true,
  maxConcurrency: true,
};

/** @param more fields that stand beside those of every worker. */
export function checkWorker(field: string, worker: WorkerProps, more: readonly string[] = []): void {
  const known = [...more, ...Object.keys(workerFields)];
  const unknown = Object.keys(worker).filter((name) => !known.includes(name));
  if (unknown.length > 0) throw wrong(field, `have no fields but ${known.join(", ")}`, unknown.join(", "));
  checkWhole(`${field}.memoryMiB`, worker.memoryMiB, 128, 10_240);
  checkWhole(`${field}.batchSize`, worker.batchSize, 1, 10);
  checkWhole(`${field}.maxConcurrency`, worker.maxConcurrency, 2, 1_000);
  checkEnvironment(`${field}.environment`, worker.environment ?? {});
  for (const name of ["vpcSubnets", "securityGroups"] as const)
    if (worker.vpc === undefined && worker[name] !== undefined)
      throw new Error(`${field}.${name} must be left out where ${field}.vpc is missing, got one`);
  const { length: layers = 0 } = worker.layers ?? [];
  if (layers > 5) throw wrong(`${field}.layers`, "be at most 5 (gettingstarted-limits.html)", layers);
}

function checkWhole(field: string, value: number | undefined, least: number, most: number): void {
  // A number that only the deploy knows is for CloudFormation to check.
  if (value === undefined || Token.isUnresolved(value)) return;
  if (!Number.isInteger(value) || value < least || value > most)
    throw wrong(field, `be a whole number from ${least} to ${most}`, value);
}

/** What Lambda sets itself and lets nobody else set (configuration-envvars.html). */
const reserved = new Set([
  "_HANDLER",
  "_X_AMZN_TRACE_ID",
  "AWS_DEFAULT_REGION",
  "AWS_REGION",
  "AWS_EXECUTION_ENV",
  "AWS_LAMBDA_FUNCTION_NAME",
  "AWS_LAMBDA_FUNCTION_MEMORY_SIZE",
  "AWS_LAMBDA_FUNCTION_VERSION",
  "AWS_LAMBDA_INITIALIZATION_TYPE",
  "AWS_LAMBDA_LOG_GROUP_NAME",
  "AWS_LAMBDA_LOG_STREAM_NAME",
  "AWS_ACCESS_KEY",
  "AWS_ACCESS_KEY_ID",
  "AWS_SECRET_ACCESS_KEY",
  "AWS_SESSION_TOKEN",
  "AWS_LAMBDA_RUNTIME_API",
  "LAMBDA_TASK_ROOT",
  "LAMBDA_RUNTIME_DIR",
]);

function checkEnvironment(field: string, environment: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(environment)) {
    if (name.startsWith("LEASEHOLD_")) throw wrong(field, "not set names that begin with LEASEHOLD_", name);
    if (reserved.has(name)) throw wrong(field, "not set a name that Lambda sets itself", name);
    if (!/^[A-Za-z][A-Za-z0-9_]+$/.test(name))
      throw wrong(field, "have names of a letter and then letters, digits or _", name);
    if (typeof value !== "string") throw wrong(`${field}.${name}`, "be a text", value);
  }
}
