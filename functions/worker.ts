/** The worker as it is shipped: one function for the tools of one module. */
import { tools } from "leasehold-tools";
import { createWorker } from "./create-worker.ts";

export const handler = createWorker(tools);
