/** How long a cold start takes to load its code: the worker's bundle against a bare handler's with the same clients. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { localRegion } from "../../../cli/local/local-env.ts";
import { bundleBare, type SynthesisedFunction } from "./bundles.ts";
import { type Spread, spreadOf } from "./spread.ts";

/** In ms, of this machine: from before the import of `index.mjs` until its handler is there. */
export type InitTimes = { readonly bare: Spread; readonly worker: Spread };

const starts = 20;
const run = promisify(execFile);

/** @param folder where the bare handler's bundle may be written. */
export async function measureInit(worker: SynthesisedFunction, folder: string): Promise<InitTimes> {
  const bare = { folder: bundleBare(join(folder, "bare")), environment: worker.environment };
  const [bareMs, workerMs]: [number[], number[]] = [[], []];
  // The first start of each warms the machine's file cache and is not counted. In turns, so that what disturbs one disturbs both.
  for (let start = 0; start <= starts; start++) {
    const [ofBare, ofWorker] = [await loadMs(bare), await loadMs(worker)];
    if (start === 0) continue;
    bareMs.push(ofBare);
    workerMs.push(ofWorker);
  }
  return { bare: spreadOf(bareMs), worker: spreadOf(workerMs) };
}

async function loadMs({ folder, environment }: SynthesisedFunction): Promise<number> {
  const url = JSON.stringify(pathToFileURL(join(folder, "index.mjs")).href);
  const program = `const t = performance.now(); await import(${url}); process.stdout.write(String(performance.now() - t)); process.exit();`;
  const { stdout } = await run(process.execPath, ["--input-type=module", "--eval", program], {
    env: {
      ...environment,
      AWS_REGION: localRegion,
      AWS_ACCESS_KEY_ID: "test",
      AWS_SECRET_ACCESS_KEY: "test",
      AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: "true",
    },
  });
  return Number(stdout);
}
