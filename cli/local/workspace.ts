/** Where the project stands, and the one folder in it that local runs may write to. */
import { resolve } from "node:path";

export const projectRoot = resolve(import.meta.dirname, "..", "..");
export const workspace = resolve(projectRoot, ".leasehold");
