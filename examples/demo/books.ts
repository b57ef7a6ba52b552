/** The provider's books, as far as they are about one of the three. */
import type { Lookup, Provider, ProviderCall } from "../../test/support/provider.ts";
import type { Part } from "./cast.ts";

export type Entry = {
  readonly atMs: number;
  readonly method: "POST" | "GET";
  readonly path: string;
  /** The idempotency key, or the reference where no key was sent; undefined where neither was. */
  readonly operation: string | undefined;
  readonly hasKey: boolean;
  readonly fencingToken: number | undefined;
  /** The calling process. */
  readonly worker: number | undefined;
  /** What a call made, or a look-up found; missing where there was nothing. */
  readonly effect: unknown;
};

export const isCallOf = ({ body }: ProviderCall, { customer }: Part): boolean =>
  typeof body === "object" && body !== null && Reflect.get(body, "customer") === customer;

/** Whether the so-many-th call of all was one of this part's. */
export const isOf = (provider: Provider, part: Part, sequence: number): boolean =>
  provider.calls.some((call) => call.sequence === sequence && isCallOf(call, part));

export function lookUpsOf(provider: Provider, part: Part): readonly Lookup[] {
  const references = provider.calls.filter((call) => isCallOf(call, part)).map((call) => call.reference);
  return provider.lookups.filter(({ reference }) => references.includes(reference));
}

export async function booksOf(provider: Provider, part: Part): Promise<readonly Entry[]> {
  const made = new Map(provider.effects.map((effect) => [effect.sequence, effect.answer]));
  const posts = provider.calls
    .filter((call) => isCallOf(call, part))
    .map(
      async ({ atMs, path, operationId, reference, fencingToken, sequence, pid }): Promise<Entry> => ({
        atMs,
        method: "POST",
        path,
        operation: operationId ?? reference,
        hasKey: operationId !== undefined,
        fencingToken,
        worker: await pid(),
        effect: made.get(sequence),
      }),
    );
  const gets = lookUpsOf(provider, part).map(
    async ({ atMs, path, reference, found, pid }): Promise<Entry> => ({
      atMs,
      method: "GET",
      path,
      operation: reference,
      hasKey: false,
      fencingToken: undefined,
      worker: await pid(),
      effect: found,
    }),
  );
  return Promise.all([...posts, ...gets]);
}

/** The name of what was made, which the provider chose itself. */
export function nameOf(effect: unknown): string {
  const { code, saved, mail_id: mailId } = effect as { code?: string; saved?: string; mail_id?: string };
  return code ?? (saved === undefined ? mailId : `${saved} saved`) ?? JSON.stringify(effect);
}
