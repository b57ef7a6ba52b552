import type { Client } from "../client/index.ts";

/** A client whose code, and that of AWS's clients under it, is loaded at the first call: most of a short command's time. */
export function lazyClient(load: () => Promise<Client>): Client {
  let loaded: Promise<Client> | undefined;
  const client = (): Promise<Client> => {
    loaded ??= load();
    return loaded;
  };
  return {
    startRun: async (...given) => (await client()).startRun(...given),
    cancelRun: async (...given) => (await client()).cancelRun(...given),
    resolveNode: async (...given) => (await client()).resolveNode(...given),
    listDoubts: async (...given) => (await client()).listDoubts(...given),
    listRuns: async (...given) => (await client()).listRuns(...given),
    eachRun: async function* (...given) {
      yield* (await client()).eachRun(...given);
    },
    getRun: async (...given) => (await client()).getRun(...given),
    waitForRun: async (...given) => (await client()).waitForRun(...given),
    getOutput: async (...given) => (await client()).getOutput(...given),
  };
}
