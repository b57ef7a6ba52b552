/** Lambda on a schedule: one pass over the living runs. */
import type { Context } from "aws-lambda";
import { type ScanReport, scanPass } from "../shared/scan.ts";
import { surroundings } from "./surroundings.ts";

const { world, limits, publish } = surroundings("scanner");

export const handler = (_event: unknown, context: Pick<Context, "getRemainingTimeInMillis">): Promise<ScanReport> =>
  scanPass(world, limits, () => context.getRemainingTimeInMillis()).finally(publish);
