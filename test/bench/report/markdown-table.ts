/** Tables and numbers as the report writes them. Pure. */

export type Row = readonly (string | number)[];

/** The first column is text, the others are numbers. */
export function table(head: Row, rows: readonly Row[]): string {
  const line = (cells: Row): string => `| ${cells.join(" | ")} |`;
  return [line(head), line(head.map((_, place) => (place === 0 ? "---" : "--:"))), ...rows.map(line)].join("\n");
}

/** With at most so many digits after the point, and none that say nothing. */
export const rounded = (value: number, digits = 2): string => String(Number(value.toFixed(digits)));

export const inDollars = (usd: number): string => `$${usd.toFixed(2)}`;

export const grouped = (value: number): string => Math.round(value).toLocaleString("en-US");
