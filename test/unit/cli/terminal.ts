/** A terminal as far as the program uses one: what is written over is gone. */
import type { Output } from "../../../cli/world.ts";

export type Terminal = Output & {
  /** What a person sees and can scroll back to, without colours. */
  readonly screen: () => readonly string[];
  readonly written: () => string;
  columns: number;
  rows: number;
};

export function terminal(columns = 80, rows = 24): Terminal {
  const lines: string[] = [""];
  let row = 0;
  let column = 0;
  let written = "";
  const put = (character: string): void => {
    lines[row] = (lines[row] ?? "").padEnd(column).slice(0, column) + character + (lines[row] ?? "").slice(column + 1);
    column += 1;
  };
  const obey = (count: number, command: string): void => {
    // Nobody can write above what is on the screen.
    if (command === "F") [row, column] = [Math.max(row - count, lines.length - made.rows, 0), 0];
    else if (command === "K") lines[row] = (lines[row] ?? "").slice(0, column);
    else if (command === "J") {
      lines[row] = (lines[row] ?? "").slice(0, column);
      lines.length = row + 1;
    } else if (command !== "m") throw new Error(`the terminal does not know ${JSON.stringify(command)}`);
  };
  const made: Terminal = {
    isTTY: true,
    columns,
    rows,
    screen: () => (lines.at(-1) === "" ? lines.slice(0, -1) : [...lines]),
    written: () => written,
    write: (text) => {
      written += text;
      // biome-ignore lint/suspicious/noControlCharactersInRegex: a terminal is steered by them
      for (const [part, count, command] of text.matchAll(/\u001b\[(\d*)([A-Za-z])|[\s\S]/gu)) {
        if (command !== undefined) obey(Number(count || 1), command);
        else if (part === "\n") {
          [row, column] = [row + 1, 0];
          lines[row] ??= "";
        } else put(part);
      }
    },
  };
  return made;
}
