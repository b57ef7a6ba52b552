/** Which text SQS takes, and how long it is there: #x9 #xA #xD #x20-#xD7FF #xE000-#xFFFD #x10000-#x10FFFF (quotas-messages.html). */

const notSendable = /[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu;

/** An empty body is refused as well. */
export const isSendable = (text: string): boolean => text !== "" && text.search(notSendable) === -1;

export const utf8Bytes = (text: string): number => Buffer.byteLength(text, "utf8");

/** Cut into pieces of at most so many bytes, never inside a surrogate pair. `maxBytes` must hold one character. */
export function piecesOf(text: string, maxBytes: number): readonly string[] {
  const pieces: string[] = [];
  let from = 0;
  let at = 0;
  let bytes = 0;
  for (const character of text) {
    const size = utf8Bytes(character);
    if (bytes + size > maxBytes && at > from) {
      pieces.push(text.slice(from, at));
      from = at;
      bytes = 0;
    }
    at += character.length;
    bytes += size;
  }
  pieces.push(text.slice(from));
  return pieces;
}

/** For people to read: what cannot be sent becomes U+FFFD, what is too long is cut, what is empty becomes a dash. */
export function readable(text: string, maxBytes: number): string {
  const clean = text.replace(notSendable, "\u{fffd}");
  const [first = ""] = piecesOf(clean, maxBytes);
  return first === "" ? "-" : first;
}
