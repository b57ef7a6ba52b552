/** Tools that come with the package, as `leasehold/tools`. */
import { lookup } from "node:dns";
import { httpToolOver } from "./http-tool.ts";
import type { HttpToolOptions } from "./options.ts";

export type { HeaderValue } from "./headers.ts";
export type { HttpToolOptions } from "./options.ts";
export { retryAfterMsOf } from "./retry-after.ts";

/**
 * Makes a tool that asks HTTP endpoints. Input: `{ method, url, headers?, body?, readAs?, timeoutMs? }`; output: `{ status, headers, body }`.
 * @throws Error that names the option, the rule and what came.
 */
export const httpTool = (options: HttpToolOptions) => httpToolOver(options, lookup);

/** Asks any https endpoint of the public internet that knows the header Idempotency-Key, or to which a repeat does no harm. No secrets. */
export const http = httpTool({ name: "http" });
