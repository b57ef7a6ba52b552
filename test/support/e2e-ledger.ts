/** What the provider's ledger says of one run: the tools of these tests tell it who calls. */
import { afterAll, inject } from "vitest";
import { type Provider, type ProviderCall, startProvider } from "./provider.ts";

export type RunLedger = Provider & {
  /** Calls of one run's tools, in their order. */
  callsOfRun(runId: string): readonly ProviderCall[];
  /** Paths of the effects that one run has had; a call that repeats an effect makes none. */
  effectsOfRun(runId: string): readonly string[];
};

/** To be called at the top of a test file. It ends with the file. */
export async function openProvider(): Promise<RunLedger> {
  const provider = await startProvider({ port: inject("e2e").ports.provider });
  afterAll(() => provider.stop());
  return {
    ...provider,
    callsOfRun: (runId) => provider.calls.filter((call) => isOfRun(call, runId)),
    effectsOfRun: (runId) =>
      provider.calls
        .filter((call) => isOfRun(call, runId) && provider.effects.some(({ sequence }) => sequence === call.sequence))
        .map((call) => call.path),
  };
}

export const isOfRun = (call: ProviderCall, runId: string): boolean =>
  typeof call.body === "object" && call.body !== null && Reflect.get(call.body, "run_id") === runId;
