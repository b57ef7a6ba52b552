/** Lines that are drawn over those before them. Nothing else is changed on the terminal, so nothing need be put back. */
import { type Line, type Paint, painted, textOf } from "./line.ts";
import { widthOf } from "./text-width.ts";
import type { Output } from "./world.ts";

/** Control sequences of ECMA-48: to a line above, erase to the end of the line, erase to the end of the screen. */
const up = (lines: number): string => (lines === 0 ? "" : `\u001b[${lines}F`);
const eraseLine = "\u001b[K";
const eraseBelow = "\u001b[J";

export const assumedColumns = 80;
export const assumedRows = 24;

/** @returns what draws; each line must fit the terminal's width, and all together leave one row below them. */
export function repainter(output: Output, paint: Paint): (lines: readonly Line[]) => void {
  let before: readonly Line[] = [];
  return (lines) => {
    const text = lines.map((line) => `${painted(line, paint)}${eraseLine}\n`).join("");
    output.write(`${up(heightOf(before, output))}${text}${eraseBelow}`);
    before = lines;
  };
}

/** A terminal that was made narrower since has broken the lines; what went off its upper edge cannot be reached. */
function heightOf(lines: readonly Line[], { columns = assumedColumns, rows = assumedRows }: Output): number {
  const height = lines.reduce((sum, line) => sum + Math.max(Math.ceil(widthOf(textOf(line)) / columns), 1), 0);
  return Math.min(height, rows - 1);
}
