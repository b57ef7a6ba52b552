/**
 * JSON in ASCII only. SQS refuses some characters (quotas-messages.html), and a message that it refuses would block its
 * sender for ever; escaped, every string can be sent and reads back the same.
 */
const notPlain = /[^\x20-\x7e]/g;

/** `value` must be something that JSON can write. */
export function asciiJson(value: unknown): string {
  const text: string | undefined = JSON.stringify(value);
  if (text === undefined) throw new Error(`JSON has no way to write ${typeof value}`);
  // Without the u flag the pattern meets UTF-16 units, so each half of a pair gets its own escape, as JSON wants it.
  return text.replace(notPlain, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
