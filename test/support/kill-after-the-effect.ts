import { isOfRun, type RunLedger } from "./e2e-ledger.ts";
import { kill } from "./processes.ts";

/** Kills the worker once its provider has acted, and before the provider's answer has left. @returns when it died. */
export const killAfterTheEffect = (provider: RunLedger, runId: string): Promise<number> =>
  new Promise((resolve, reject) => {
    const stopListening = provider.onActed(async (call) => {
      if (!isOfRun(call, runId)) return;
      stopListening();
      const pid = await call.pid();
      if (pid === undefined) return reject(new Error("no process found that called the provider"));
      await kill(pid);
      resolve(Date.now());
    });
  });
