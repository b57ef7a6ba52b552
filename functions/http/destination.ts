/** Where a request may go, as far as its address says so. What the host resolves to is checked when it is connected to. */
import { isIP } from "node:net";
import type { HttpSettings } from "./options.ts";
import { isPublicAddress } from "./public-address.ts";

/** What is wrong with an address: the rule with what came, and the part that breaks it where that is not to be shown. */
export type DestinationFault = { readonly part?: "username" | "password"; readonly says: string };

/** Plain http only where an origin says so. */
const protocols: ReadonlySet<string> = new Set(["https:", "http:"]);

type Allowed = Pick<HttpSettings, "origins" | "privateOrigins">;

export function destinationFault(text: string, allowed: Allowed): DestinationFault | undefined {
  if (!URL.canParse(text)) {
    // What stands before an @ may be a password.
    if (text.includes("@")) return { part: "password", says: "must not be there, and the rest an absolute address" };
    return { says: `must be an absolute address, got ${JSON.stringify(text.slice(0, 200))}` };
  }
  const url = new URL(text);
  for (const part of ["username", "password"] as const) {
    if (url[part] !== "")
      return { part, says: "must not stand in the address, which is stored: a header may name a secret" };
  }
  // The origin of a blob: is that of the address in it, so the origin alone does not tell.
  if (!protocols.has(url.protocol)) return { says: `must begin with https:, got ${url.protocol}` };
  if (allowed.privateOrigins.has(url.origin)) return undefined;
  if (allowed.origins !== undefined) {
    const all = [...allowed.origins, ...allowed.privateOrigins];
    if (!allowed.origins.has(url.origin)) return { says: `must be of ${all.join(", ")}, got ${url.origin}` };
  } else if (url.protocol !== "https:" || url.port !== "") {
    return { says: `must begin with https: and name no port, unless the tool allows its origin, got ${url.origin}` };
  }
  // A host that is an address is never looked up, so this is the only place to check it.
  const host = url.hostname.replace(/^\[|\]$/g, "");
  if (isIP(host) === 0 || isPublicAddress(host)) return undefined;
  return { says: `must name a host at a public address, or an origin in privateOrigins, got ${host}` };
}
