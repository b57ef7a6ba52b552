/** What the provider sells: for each path the body it wants and the answer that its effect has. */
import { z } from "zod";

type Service = { readonly body: z.ZodType; readonly make: (body: unknown, ordinal: number) => unknown };

const service = <Body extends z.ZodType>(
  body: Body,
  make: (body: z.output<Body>, ordinal: number) => unknown,
): Service => ({
  body,
  make: (raw, ordinal) => make(body.parse(raw), ordinal),
});

const text = z.string().min(1);

/** Each effect's answer differs, so that a second one shows in all that is built on it. */
const services = new Map<string, Service>([
  [
    "/vouchers",
    service(z.object({ customer: text, amount: z.number().positive() }), ({ customer, amount }, ordinal) => ({
      code: `VOUCHER-${ordinal}`,
      customer,
      amount,
    })),
  ],
  ["/saved-vouchers", service(z.object({ customer: text, code: text }), ({ code }) => ({ saved: code }))],
  ["/mails", service(z.object({ customer: text, code: text }), (_, ordinal) => ({ mail_id: `MAIL-${ordinal}` }))],
]);

/** For graphs: each node calls a name of its own, and the ledger proves order and once-ness. */
const ledgerService = (name: string): Service =>
  service(z.unknown(), (_, ordinal) => ({ name: decodeURIComponent(name), ordinal }));

export function serviceAt(path: string): Service | undefined {
  const [, name] = /^\/ledger\/([^/]+)$/.exec(path) ?? [];
  return name === undefined ? services.get(path) : ledgerService(name);
}
