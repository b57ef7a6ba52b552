/** Where the package stands. The same code runs from its sources, `infra/*.ts`, and as it is shipped, `dist/infra/*.js`. */
import { extname, resolve } from "node:path";

const extension = extname(import.meta.filename);
const isBuilt = extension === ".js";

/** The repository, or the package where it is installed. */
export const projectRoot = resolve(import.meta.dirname, isBuilt ? "../.." : "..");

/** The folder that holds what Lambda runs. */
export const functionsFolder = resolve(import.meta.dirname, "..", "functions");

/** A module below it; `name` has no extension. */
export const functionModule = (name: string): string => resolve(functionsFolder, `${name}${extension}`);

/** The folder of a function that the package brings ready-made; none while it runs from its sources. */
export const prebuiltFolder = (name: string): string | undefined =>
  isBuilt ? resolve(import.meta.dirname, "..", "lambda", name) : undefined;
