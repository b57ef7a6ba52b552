/** How many columns of a terminal a text takes. */

const graphemes = new Intl.Segmenter(undefined, { granularity: "grapheme" });
const ascii = /^[\x20-\x7e]*$/;
/** Two columns: emoji, and the scripts whose characters are as wide as they are high. */
const wide =
  /^(\p{Emoji_Presentation}|\p{Script=Han}|\p{Script=Hangul}|\p{Script=Hiragana}|\p{Script=Katakana}|[\u3000-\u303f\uff01-\uff60\uffe0-\uffe6])|\ufe0f/u;
/** None: what only joins or marks its neighbours. */
const none = /^[\p{Cf}\p{M}]+$/u;

const columnsOf = (grapheme: string): number => (none.test(grapheme) ? 0 : wide.test(grapheme) ? 2 : 1);

export function widthOf(text: string): number {
  if (ascii.test(text)) return text.length;
  let columns = 0;
  for (const { segment } of graphemes.segment(text)) columns += columnsOf(segment);
  return columns;
}

const mark = "…";

/** The text's beginning and a mark, together at most so many columns; nothing is cut through that is read as one character. */
export function cutText(text: string, columns: number): string {
  if (columns < 1) return "";
  let kept = "";
  let taken = 0;
  for (const { segment } of graphemes.segment(text)) {
    taken += columnsOf(segment);
    if (taken > columns - 1) break;
    kept += segment;
  }
  return kept + mark;
}

/** As `cutText`, with the mark in the middle: names that are alike differ at their ends. */
export function cutMiddle(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text;
  const head = cutText(text, Math.ceil(columns / 2));
  let tail = "";
  let left = columns - widthOf(head);
  for (const { segment } of [...graphemes.segment(text)].reverse()) {
    left -= columnsOf(segment);
    if (left < 0) break;
    tail = segment + tail;
  }
  return head + tail;
}
