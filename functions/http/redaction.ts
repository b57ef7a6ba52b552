/** Takes the secrets that were sent out of what a server wrote, before it is stored in an error. */

export type Redaction = {
  /** A text without them. */
  all(text: string): string;
  /** A text that was cut off, without the beginning of one at its end. */
  tornEnd(text: string): string;
};

/** Parts of a secret that are shorter say too little, and stand in too many texts: the scheme "Bearer" is one. */
const shortestPart = 8;

/** @param secrets by the variable that is shown in their place; printable ASCII. */
export function redactionOf(secrets: ReadonlyMap<string, string>): Redaction {
  const variables = new Map<string, string>();
  for (const [variable, value] of secrets) for (const form of formsOf(value)) variables.set(form, variable);
  // The longest first: one secret may be the beginning of another.
  const forms = [...variables.keys()].sort((a, b) => b.length - a.length);
  const shown = (form: string): string => `[${variables.get(form)}]`;
  const any = new RegExp(forms.map((form) => form.replace(/[^0-9A-Za-z]/g, "\\$&")).join("|"), "g");
  return {
    all: (text) => (forms.length === 0 ? text : text.replace(any, shown)),
    tornEnd: (text) => {
      const torn = forms.map((form) => ({ form, length: tornLength(text, form) }));
      const [longest] = torn.sort((a, b) => b.length - a.length);
      if (longest === undefined || longest.length === 0) return text;
      return `${text.slice(0, text.length - longest.length)}${shown(longest.form)}`;
    },
  };
}

/** How many characters at the end of a text are the beginning of a secret. */
function tornLength(text: string, form: string): number {
  let length = Math.min(text.length, form.length);
  while (length > 0 && !text.endsWith(form.slice(0, length))) length--;
  return length;
}

/** As it was sent, and as servers tell it: without its scheme, a cookie's value alone, a user's password, in JSON or in a link. */
function formsOf(secret: string): ReadonlySet<string> {
  const basic = /^basic\s+(\S+)$/i.exec(secret)?.[1];
  const user = basic === undefined ? "" : Buffer.from(basic, "base64").toString("utf8");
  const parts = [...secret.split(/[\s,;=]+/), user, user.slice(user.indexOf(":") + 1)];
  const all = [secret, ...parts.filter((part) => part.length >= shortestPart)];
  return new Set(all.flatMap((one) => [one, JSON.stringify(one).slice(1, -1), encodeURIComponent(one)]));
}
