/** Errors that no run hears of: promises that nobody awaits, timers that throw. */
import { inspect } from "node:util";
import type { Say } from "./event.ts";

/** In Lambda such an error ends the process, and with it the attempt; here it would end the session, so it is told instead. */
export async function whileStraysAreTold<Result>(say: Say, run: () => Promise<Result>): Promise<Result> {
  const tell = (thrown: unknown): void =>
    say({
      event: "error",
      message: `an error that no tool awaits; deployed, it would end the worker's process: ${inspect(thrown)}`,
    });
  process.on("uncaughtException", tell);
  process.on("unhandledRejection", tell);
  try {
    return await run();
  } finally {
    process.off("uncaughtException", tell);
    process.off("unhandledRejection", tell);
  }
}
