/** What each package weighs in a bundled file, by the file's source map. Pure. */
import { z } from "zod";

const mapSchema = z.object({ sources: z.array(z.string()), mappings: z.string() });

/** What the bundler itself has written. */
export const bundlersOwn = "(bundler)";
/** Modules that stand in no package. */
export const ownCode = "(own code)";

const digits = new Map(
  [..."ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"].map((digit, value) => [digit, value]),
);

/** Base 64 digits of 5 bits, the lowest first, the sixth bit saying that more follow; the number's own lowest bit is its sign. */
function numbersOf(segment: string): readonly number[] {
  const numbers: number[] = [];
  let [value, shift] = [0, 0];
  for (const digit of segment) {
    const bits = digits.get(digit);
    if (bits === undefined) throw new Error(`a source map's mappings must be base 64, got ${JSON.stringify(digit)}`);
    value += (bits & 31) << shift;
    shift += 5;
    if ((bits & 32) !== 0) continue;
    numbers.push(value & 1 ? -(value >> 1) : value >> 1);
    [value, shift] = [0, 0];
  }
  return numbers;
}

/** `../node_modules/@aws-sdk/core/a.js` -> `@aws-sdk/core`; of nested folders the last one holds the package. */
export function packageOf(source: string): string {
  const inside = source.split("node_modules/").at(-1);
  if (inside === undefined || inside === source) return ownCode;
  const [first = "", second = ""] = inside.split("/");
  return first.startsWith("@") ? `${first}/${second}` : first;
}

/**
 * Characters by package; a bundle is ASCII, so they are bytes.
 * @param code as bundled. @param map its source map, JSON.
 */
export function weightsOf(code: string, map: string): ReadonlyMap<string, number> {
  const { sources, mappings } = mapSchema.parse(JSON.parse(map));
  const weights = new Map<string, number>();
  const add = (name: string, bytes: number): void => void weights.set(name, (weights.get(name) ?? 0) + bytes);
  const lines = code.split("\n");
  let source = 0;
  for (const [place, mapped] of mappings.split(";").entries()) {
    const line = lines[place] ?? "";
    let [column, owner] = [0, bundlersOwn];
    for (const segment of mapped === "" ? [] : mapped.split(",")) {
      const [byColumns = 0, bySources] = numbersOf(segment);
      add(owner, byColumns);
      column += byColumns;
      source += bySources ?? 0;
      owner = bySources === undefined ? bundlersOwn : packageOf(sources[source] ?? "");
    }
    add(owner, line.length - column);
  }
  // Lines after the last mapped one, and the ends of all lines.
  add(bundlersOwn, code.length - [...weights.values()].reduce((sum, bytes) => sum + bytes, 0));
  return weights;
}
