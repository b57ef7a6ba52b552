/** Where the package stands, and the one folder that local runs may write to. */
import { mkdir, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";

/** Whether this runs from the source and not from what `npm run build` made of it. */
export const isSource = import.meta.filename.endsWith(".ts");

/** The folder of package.json: built, the files lie one folder deeper, in dist. */
export const projectRoot = resolve(import.meta.dirname, "..", "..", ...(isSource ? [] : [".."]));

/** In the folder where the program was started, so that what an app wrote goes with the app. */
export const workspace = resolve(".leasehold");

/** Makes the workspace where there is none. Git is told to pass it over: an app may not know the name. */
export async function makeWorkspace(): Promise<void> {
  await mkdir(workspace, { recursive: true });
  await writeFile(join(workspace, ".gitignore"), "*\n");
}
