import { relative } from "node:path";

/** An absolute path as a person would write it who stands where the command was given. */
export function shownPath(path: string): string {
  const near = relative(process.cwd(), path);
  return near === "" || near.startsWith("..") ? path : near;
}
