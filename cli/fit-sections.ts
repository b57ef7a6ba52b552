/** Which of many lines are shown where there is room for few. */
import type { Line } from "./line.ts";

export type Section = {
  readonly title: string;
  /** Each of one or more lines, which are shown together or not at all. */
  readonly items: readonly (readonly Line[])[];
};

type Shown = Section & { readonly count: number };

/**
 * At most `room` lines. Items give way one by one, from where most are shown, and of equals from the least urgent section;
 * where even the titles are too many, the least urgent sections go.
 * @param sections the most urgent first; one without items is left out.
 */
export function fitted(sections: readonly Section[], room: number): readonly Line[] {
  const shown: Shown[] = sections
    .filter(({ items }) => items.length > 0)
    .map((section) => ({ ...section, count: section.items.length }));
  while (shown.flatMap(linesOf).length > room) {
    const most = Math.max(...shown.map(({ count }) => count));
    const place = shown.findLastIndex(({ count }) => count === most);
    const fullest = shown[place];
    if (fullest === undefined) break;
    if (most === 0) shown.pop();
    else shown[place] = { ...fullest, count: most - 1 };
  }
  return shown.flatMap(linesOf);
}

function linesOf({ title, items, count }: Shown): readonly Line[] {
  const told = count === items.length ? `${count}` : count === 0 ? `${items.length}` : `${count} of ${items.length}`;
  return ["", [{ text: title, style: "bold" }, ` (${told})`], ...items.slice(0, count).flat()];
}
