/** A line for a terminal: pieces of text, some of them in a style. */
import { styleText } from "node:util";
import { cutText, widthOf } from "./text-width.ts";

export type Style = "bold" | "dim" | "red" | "green" | "yellow" | "magenta" | "cyan";
export type Piece = { readonly text: string; readonly style?: Style | undefined };
export type Line = string | readonly (string | Piece)[];

/** Gives a text its style, or leaves it as it is where there are no colours. */
export type Paint = (style: Style, text: string) => string;

export const unpainted: Paint = (_style, text) => text;

type Environment = { readonly [name: string]: string | undefined };

/**
 * Colours are for a terminal that has them. FORCE_COLOR decides where it is set, as it does in Node, then NO_COLOR, which
 * counts unless it is empty (no-color.org).
 */
export function paintFor(output: { readonly isTTY?: boolean }, environment: Environment): Paint {
  const { FORCE_COLOR: forced, NO_COLOR: refused, TERM: terminal } = environment;
  const wanted =
    forced === undefined ? output.isTTY === true && !refused && terminal !== "dumb" : !/^(0|false)$/.test(forced);
  // The stream was looked at above, and it need not be the process's own.
  return wanted ? (style, text) => styleText(style, text, { validateStream: false }) : unpainted;
}

/** Ids and errors are others' text: what would steer a terminal or turn the line around is shown as its code. */
export const steering = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu;

export const harmless = (text: string): string =>
  text.replace(steering, (found) => `\\u{${found.codePointAt(0)?.toString(16) ?? ""}}`);

/** Those that JSON leaves as they are, and only strings in it can hold; the break between lines is JSON's own. */
const steeringJson = /[\p{Bidi_Control}\u007f-\u009f\u2028\u2029]/gu;

/** The same value, in JSON that steers nothing. */
export const harmlessJson = (json: string): string =>
  json.replace(steeringJson, (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, "0")}`);

export const piecesOf = (line: Line): readonly Piece[] =>
  (typeof line === "string" ? [line] : line).map((piece) => (typeof piece === "string" ? { text: piece } : piece));

/** The text alone, as it came. */
export const textOf = (line: Line): string =>
  piecesOf(line)
    .map(({ text }) => text)
    .join("");

/** What is written: harmless, and in colours where `paint` has any. */
export const painted = (line: Line, paint: Paint): string =>
  piecesOf(line)
    .map(({ text, style }) => (style === undefined || text === "" ? harmless(text) : paint(style, harmless(text))))
    .join("");

/** At most so many columns of a terminal. */
export function cutLine(line: Line, columns: number): Line {
  const pieces = piecesOf(line).map(({ text, style }) => ({ text: harmless(text), style }));
  if (pieces.reduce((sum, { text }) => sum + widthOf(text), 0) <= columns) return pieces;
  let left = Math.max(columns, 0);
  const cut: Piece[] = [];
  for (const { text, style } of pieces) {
    const width = widthOf(text);
    // The last column is for the mark that something is missing, whichever piece it falls into.
    const kept = width < left ? text : cutText(text, left);
    cut.push({ text: kept, style });
    if (kept !== text) break;
    left -= width;
  }
  return cut;
}

type Cell = string | Piece;

/** Columns under each other, two blanks between them. */
export function aligned(rows: readonly (readonly Cell[])[]): readonly Line[] {
  const cells = rows.map((row) => piecesOf(row).map(({ text, style }) => ({ text: harmless(text), style })));
  const widths: number[] = [];
  for (const row of cells) {
    for (const [column, { text }] of row.entries()) widths[column] = Math.max(widths[column] ?? 0, widthOf(text));
  }
  return cells.map((row) => {
    const last = row.findLastIndex(({ text }) => text !== "");
    return row.slice(0, last + 1).flatMap((cell, column): readonly Piece[] => {
      const missing = (widths[column] ?? 0) - widthOf(cell.text);
      return column === last ? [cell] : [cell, { text: " ".repeat(missing + 2) }];
    });
  });
}
