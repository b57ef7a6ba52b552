/** The limits of a dev session. */
import { defaultLimits, type Limits, limitsWith } from "../../shared/limits.ts";
import type { AnyTool } from "../../shared/tool.ts";

/** Under these a killed worker is followed in seconds. */
const killing = { leaseMs: 1_500, heartbeatMs: 500, skewMs: 500, abortGraceMs: 500, commitBufferMs: 1_000 };

/** As a deployment has them that sets none, but for what the tools need: one that holds them would have been given more. */
export function devLimits(tools: readonly AnyTool[], kill: boolean): Limits {
  const asked = tools.flatMap(({ timeoutMs, reconcileRetry }) => [timeoutMs ?? 0, reconcileRetry?.timeoutMs ?? 0]);
  const attemptLimitMs = Math.max(defaultLimits.attemptLimitMs, ...asked);
  const spareMs = defaultLimits.functionTimeoutMs - defaultLimits.attemptLimitMs;
  const functionTimeoutMs = Math.min(attemptLimitMs + spareMs, 900_000);
  return limitsWith({ attemptLimitMs, functionTimeoutMs, ...(kill ? killing : {}) });
}

/** What a tool may take that says nothing, where workers are killed: nobody looks an operation up before its invocation would be over. */
const shortMs = 10_000;

export const killedToolTimeMs = (tool: AnyTool | undefined): number =>
  Math.max(tool?.timeoutMs ?? shortMs, tool?.reconcileRetry?.timeoutMs ?? 0);
