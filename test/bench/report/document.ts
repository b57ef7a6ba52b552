/** The part of a page that the bench writes itself. Pure. */

export const begins = "<!-- npm run bench writes from here -->";
export const ends = "<!-- to here -->";

/** @throws Error where the page lacks a mark, or has it twice. */
export function withReport(page: string, report: string): string {
  const [before, rest, ...more] = page.split(begins);
  const [old, after, ...others] = (rest ?? "").split(ends);
  if (before === undefined || old === undefined || after === undefined || more.length > 0 || others.length > 0)
    throw new Error(`the page must hold ${begins} and after it ${ends}, each once`);
  return `${before}${begins}\n\n${report.trim()}\n\n${ends}${after}`;
}
