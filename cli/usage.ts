/** What a person typed or wrote is wrong: the message names the field, the rule and what came. */
export type UsageError = Error & { readonly code: "usage" };

export const usageError = (message: string): UsageError =>
  Object.assign(new Error(message), { name: "UsageError", code: "usage" as const });

export const isUsageError = (error: unknown): error is UsageError =>
  error instanceof Error && error.name === "UsageError";

const SHOWN_CHARACTERS = 120;

/** A value as an error shows it: JSON, and not all of it where it is long. */
export function shown(value: unknown): string {
  if (value === undefined) return "nothing";
  const text = JSON.stringify(value) ?? typeof value;
  return text.length <= SHOWN_CHARACTERS ? text : `${text.slice(0, SHOWN_CHARACTERS)}…`;
}
