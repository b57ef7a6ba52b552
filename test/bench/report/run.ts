/**
 * `npm run bench`: what a node costs in calls, units, messages, time and money, and what is deployed weighs. A report, never
 * a test: on standard output, and in .leasehold/bench.md and bench.json.
 *
 * `--only counts|times|bundle|init` (again for several; `none` for none) measures that alone and keeps the rest as measured
 * before. `--write docs/cost.md` puts the report between the two marks of that page as well.
 */
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { ministackPython } from "../../../cli/local/ministack-install.ts";
import { makeWorkspace, workspace } from "../../../cli/local/workspace.ts";
import { synthesise, weighBundles } from "./bundles.ts";
import { measureCounts } from "./counts.ts";
import { deployBench } from "./deployment.ts";
import { withReport } from "./document.ts";
import { measureInit } from "./init-time.ts";
import { type Bench, type Machine, type PartName, partNames, reportOf } from "./report.ts";
import { measureTimes } from "./times.ts";

const say = (line: string): void => void process.stderr.write(`${line}\n`);
const jsonFile = join(workspace, "bench.json");

/** @throws Error that names the option. */
function readOptions(): { readonly parts: readonly PartName[]; readonly page: string | undefined } {
  const { values } = parseArgs({ options: { only: { type: "string", multiple: true }, write: { type: "string" } } });
  const asked = values.only ?? partNames;
  const parts = asked.flatMap((name) => partNames.find((known) => known === name) ?? []);
  const unknown = asked.find((name) => name !== "none" && !partNames.some((known) => known === name));
  if (unknown !== undefined)
    throw new Error(`--only must be one of ${partNames.join(", ")}, none, got ${JSON.stringify(unknown)}`);
  return { parts, page: values.write };
}

async function machineNow(): Promise<Machine> {
  // The folder of its installation is named by its version.
  const [, ministack = "unknown"] = /ministack-([\d.]+)/.exec(await ministackPython()) ?? [];
  const date = new Date().toISOString().slice(0, 10);
  return { date, cores: availableParallelism(), node: process.versions.node, ministack };
}

async function onLocalAws(parts: ReadonlySet<PartName>, machine: Machine): Promise<Bench> {
  if (!parts.has("counts") && !parts.has("times")) return {};
  say("deploying two stacks to a local AWS");
  const deployment = await deployBench();
  try {
    if (parts.has("times")) say("times: chains and fan-outs, one after another");
    const times = parts.has("times") ? { times: { machine, result: await measureTimes(deployment) } } : {};
    if (parts.has("counts")) say("counts: in memory, and by way of the proxies");
    const counts = parts.has("counts") ? { counts: { machine, result: await measureCounts(deployment) } } : {};
    return { ...times, ...counts };
  } finally {
    await deployment.stop();
  }
}

async function ofBundles(parts: ReadonlySet<PartName>, machine: Machine): Promise<Bench> {
  if (!parts.has("bundle") && !parts.has("init")) return {};
  const folder = await mkdtemp(join(tmpdir(), "leasehold-bench-"));
  try {
    say("synthesising the stack");
    const synthesised = synthesise(join(folder, "cdk.out"));
    const bundle = parts.has("bundle") ? { bundle: { machine, result: weighBundles(synthesised) } } : {};
    if (!parts.has("init")) return bundle;
    say("cold starts");
    return { ...bundle, init: { machine, result: await measureInit(synthesised.worker, folder) } };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const { parts, page } = readOptions();
await makeWorkspace();
const before: Bench = existsSync(jsonFile) ? JSON.parse(await readFile(jsonFile, "utf8")) : {};
const machine = await machineNow();
const wanted = new Set(parts);
// Cold starts first: the local AWS would take its share of the cores.
const bench: Bench = { ...before, ...(await ofBundles(wanted, machine)), ...(await onLocalAws(wanted, machine)) };
const report = reportOf(bench);
await writeFile(jsonFile, `${JSON.stringify(bench, null, 2)}\n`);
await writeFile(join(workspace, "bench.md"), report);
if (page !== undefined) await writeFile(page, withReport(await readFile(page, "utf8"), report));
process.stdout.write(`${report}\nThe same is in .leasehold/bench.md and .json.\n`);
// What failed to close a socket must not hold the process.
process.exit(0);
