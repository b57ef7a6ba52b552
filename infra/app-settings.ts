/** What a deployer says on the command line with `-c name=value`, as far as its kind goes; the construct holds the rules of each. */
import type { Limits } from "../shared/limits.ts";
import { functionModule } from "./package-root.ts";
import { type LeaseholdProps, type LogLevel, logLevels } from "./props.ts";

export type AppSettings = LeaseholdProps & { readonly stackName: string };

/** @throws Error that names the context value, its rule and what came. */
export function readSettings(context: (name: string) => unknown): AppSettings {
  const limits = readLimits(context("limits"));
  const environment = readTexts("workerEnvironment", context("workerEnvironment"));
  const logLevel = readLogLevel(context("logLevel"));
  return {
    stackName: readMatch("stackName", context("stackName") ?? "Leasehold", /^[A-Za-z][A-Za-z0-9-]{0,127}$/),
    namespace: readText("namespace", context("namespace") ?? "leasehold"),
    tools: readText("tools", context("tools") ?? functionModule("tools/index")),
    removable: readFlag("removable", context("removable") ?? false),
    ...(limits === undefined ? {} : { limits }),
    ...(environment === undefined ? {} : { worker: { environment } }),
    ...(logLevel === undefined ? {} : { logLevel }),
    ...(context("alarms") === undefined ? {} : { alarms: readFlag("alarms", context("alarms")) }),
  };
}

const wrong = (name: string, rule: string, value: unknown): Error =>
  new Error(`context ${name} must be ${rule}, got ${JSON.stringify(value)}`);

function readText(name: string, value: unknown): string {
  if (typeof value === "string" && value !== "") return value;
  throw wrong(name, "a text that is not empty", value);
}

function readMatch(name: string, value: unknown, pattern: RegExp): string {
  if (typeof value === "string" && pattern.test(value)) return value;
  throw wrong(name, `a text that matches ${pattern}`, value);
}

function readFlag(name: string, value: unknown): boolean {
  if (value === true || value === "true") return true;
  if (value === false || value === "false") return false;
  throw wrong(name, "true or false", value);
}

function readLogLevel(value: unknown): LogLevel | undefined {
  if (value === undefined) return undefined;
  const found = logLevels.find((level) => level === value);
  if (found === undefined) throw wrong("logLevel", `one of ${logLevels.join(", ")}`, value);
  return found;
}

/** From the command line it is a text; from cdk.json it may be an object. */
function readLimits(value: unknown): Partial<Limits> | undefined {
  if (value === undefined) return undefined;
  return readRecord("limits", "a JSON object of numbers", value, (entry) => typeof entry === "number");
}

function readTexts(name: string, value: unknown): Readonly<Record<string, string>> | undefined {
  if (value === undefined) return undefined;
  return readRecord(name, "a JSON object of texts", value, (entry) => typeof entry === "string");
}

function readRecord<Entry>(
  name: string,
  rule: string,
  value: unknown,
  fits: (entry: unknown) => entry is Entry,
): Record<string, Entry> {
  const found = typeof value === "string" ? parsed(name, rule, value) : value;
  const isRecord = typeof found === "object" && found !== null && !Array.isArray(found);
  if (!isRecord || !Object.values(found).every(fits)) throw wrong(name, rule, value);
  return found as Record<string, Entry>;
}

function parsed(name: string, rule: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw wrong(name, rule, text);
  }
}
