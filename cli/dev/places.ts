/** Where in a user's own source an error came from. */
import { join, relative, sep } from "node:path";

const shownPlaces = 5;
/** Inside this repository Leasehold's own source is bundled along with a user's. */
const ownSource = join(import.meta.dirname, "../../shared") + sep;

/**
 * Lines of its stack, the innermost first, as `at charge (tools.ts:12:9)`.
 * @param files the user's source, absolute paths.
 */
export function placesOf(thrown: unknown, files: readonly string[]): readonly string[] {
  const stack: unknown = thrown instanceof Error ? thrown.stack : undefined;
  if (typeof stack !== "string") return [];
  const users = files.filter((file) => !file.startsWith(ownSource));
  const places = stack.split("\n").flatMap((line) => {
    const file = users.find((each) => line.includes(`${each}:`));
    return file === undefined ? [] : [line.trim().replace("file://", "").replace(file, relative(process.cwd(), file))];
  });
  return places.slice(0, shownPlaces);
}
